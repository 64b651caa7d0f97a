// Package disk reads and writes the runtime's small state files.
package disk

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// WriteJSON writes v to path so that a reader sees the old content or the new, never a part. The mode is 0600: what a
// container is configured with is nobody else's business.
func WriteJSON(path string, v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return err
	}
	tmp := path + ".tmp"
	if err := os.WriteFile(tmp, b, 0o600); err != nil {
		return err
	}
	return os.Rename(tmp, path)
}

// ReadJSON reads path into a new T. A missing file is nil and no error.
func ReadJSON[T any](path string) (*T, error) {
	b, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	v := new(T)
	if err := json.Unmarshal(b, v); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return v, nil
}
