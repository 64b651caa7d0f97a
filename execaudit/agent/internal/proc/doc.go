// Package proc reads what /proc says of the processes of marked sessions, on Linux.
package proc
