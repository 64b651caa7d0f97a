// Package top is the live view of a node's sessions in a terminal.
package top
