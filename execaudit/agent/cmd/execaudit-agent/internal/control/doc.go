// Package control is the agent's socket, at which root asks it for its status and for the sessions of the node.
package control
