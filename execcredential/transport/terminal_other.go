//go:build !linux && !darwin && !windows

package transport

import "os"

// isTerminal knows no terminal here, so no plugin is handed standard input.
func isTerminal(*os.File) bool { return false }
