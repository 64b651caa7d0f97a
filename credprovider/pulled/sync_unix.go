//go:build unix

package pulled

import (
	"errors"
	"os"
)

// sync makes a rename or a removal last.
func (f directory) sync() error {
	dir, err := os.Open(string(f))
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}
