// Package board is what the agent says of itself: its status, its metrics, and the sessions of the node as they are
// now.
package board
