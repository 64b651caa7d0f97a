//go:build !unix

package journal

// syncDir does nothing where a directory cannot be synced; there a new journal
// may be missing after a crash.
func syncDir(string) error {
	return nil
}
