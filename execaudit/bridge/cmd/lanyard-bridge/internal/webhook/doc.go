// Package webhook is the command `lanyard-bridge webhook`: the server that the API server asks about every exec.
package webhook
