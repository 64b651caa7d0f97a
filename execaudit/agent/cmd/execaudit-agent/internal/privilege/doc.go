// Package privilege takes away what the agent may do beyond what it needs.
package privilege
