//go:build !unix

package pulled

// sync does nothing: a directory cannot be synchronised here.
func (directory) sync() error { return nil }
