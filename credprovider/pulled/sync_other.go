//go:build !unix

package pulled

// sync does nothing: a folder cannot be synchronised here.
func (folder) sync() error { return nil }
