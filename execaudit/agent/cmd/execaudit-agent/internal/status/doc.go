// Package status is the command `status`: is the agent well?
package status
