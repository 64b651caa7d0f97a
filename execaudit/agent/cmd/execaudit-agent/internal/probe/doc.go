// Package probe is the command `probe`: what this node's kernel and these rights allow.
package probe
