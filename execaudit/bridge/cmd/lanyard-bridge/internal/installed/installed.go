// Package installed is what the installer writes down on a node, and the node's daemon reads: for which runtime
// handlers the wrapper stands in the place of the runtime, since when, and how.
package installed

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// File is the file's name in the state directory.
const File = "installed.json"

// Version is the version of the file's form.
const Version = 1

// MaxBytes is the most that Load reads.
const MaxBytes = 1 << 20 // 1 MiB

// Errors of Load.
var (
	// ErrMalformed: the file is not what Save wrote.
	ErrMalformed = errors.New("malformed installed state")
	// ErrVersion: the file has another version's form.
	ErrVersion = errors.New("installed state of another version")
)

// State is the file's content. The zero value is a node without the wrapper.
type State struct {
	// Version is [Version]; Save writes it.
	Version int `json:"version"`
	// Handlers are those with the wrapper, by the runtime handler's name; the default handler's is "".
	Handlers map[string]Handler `json:"handlers"`
}

// Handler is one runtime handler with the wrapper. Paths are the host's.
type Handler struct {
	// Mode is how the wrapper came into its place: drop-in, runtimeclass or bind.
	Mode string `json:"mode"`
	// Since is the moment from which containers get the wrapper, in UTC.
	Since time.Time `json:"since"`
	// Wrapper is the path that is executed: the wrapper's own, or the covered runtime's in mode bind.
	Wrapper string `json:"wrapper"`
	// Runtime is the path of the real runtime.
	Runtime string `json:"runtime"`
	// Config is the path of the wrapper's configuration.
	Config string `json:"config"`
}

// Load returns the state in the file at path, or the zero State where there is no file. Errors: [ErrMalformed],
// [ErrVersion], or the system's, each with the path.
func Load(path string) (State, error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return State{}, nil
	}
	if err != nil {
		return State{}, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, MaxBytes+1))
	if err != nil {
		return State{}, err
	}
	var s State
	switch {
	case len(text) > MaxBytes, json.Unmarshal(text, &s) != nil:
		return State{}, fmt.Errorf("%w: %s", ErrMalformed, path)
	case s.Version != Version:
		return State{}, fmt.Errorf("%w: %s: version %d, must be %d", ErrVersion, path, s.Version, Version)
	}
	return s, nil
}

// Save replaces the file at path, mode 0644, in one step: a reader finds the former state or this one. The directory
// must exist.
func (s State) Save(path string) error {
	s.Version = Version
	text, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-*")
	if err != nil {
		return err
	}
	_, err = f.Write(append(text, '\n'))
	err = errors.Join(err, f.Chmod(0o644), f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return syncDir(filepath.Dir(path))
}

func syncDir(path string) error {
	d, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
