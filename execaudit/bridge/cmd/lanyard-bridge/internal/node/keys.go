//go:build linux

package node

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/lanyard-dev/lanyard/execaudit/bridge/token"
)

// copyKeys copies the public keys of KeysFrom to every place where a wrapper that is installed reads them. A file that
// holds no keys is not copied: the wrappers go on with those that they have.
func (o *Options) copyKeys() error {
	if o.KeysFrom == "" {
		return nil
	}
	text, err := os.ReadFile(o.KeysFrom)
	if err != nil {
		return err
	}
	if _, err := token.ParseKeys(string(text)); err != nil {
		return fmt.Errorf("%s: %w", o.KeysFrom, err)
	}
	state, err := o.installed()
	if err != nil {
		return err
	}
	var faults []error
	for _, h := range state.Handlers {
		config, err := o.config(h)
		if err == nil && config.Keys != "" {
			err = replace(o.host(config.Keys), text)
		}
		faults = append(faults, err)
	}
	return errors.Join(faults...)
}

// replace gives the file at path another content in one step, unless it has it.
func replace(path string, text []byte) error {
	if old, err := os.ReadFile(path); err == nil && bytes.Equal(old, text) {
		return nil
	} else if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-*")
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	err = errors.Join(err, f.Chmod(0o644), f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}
