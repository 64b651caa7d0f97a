// Package run is the command `run`: the agent of a node.
package run
