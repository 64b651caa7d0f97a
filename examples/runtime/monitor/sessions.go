package monitor

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

func sessionFile(dir, session string) string { return filepath.Join(dir, "session-"+session+".json") }

// WriteSession keeps which process an exec session has, in the container's directory, until the runtime has it on
// record. It is for a runtime that is killed meanwhile, not for a machine that goes down, so it is not synced.
func WriteSession(dir, session string, s Started) error {
	b, err := json.Marshal(s)
	if err != nil {
		return err
	}
	return os.WriteFile(sessionFile(dir, session), b, 0o600)
}

// ReadSession returns what WriteSession wrote, nil for nothing; half a file, of a monitor that was killed, is nothing.
func ReadSession(dir, session string) (*Started, error) {
	b, err := os.ReadFile(sessionFile(dir, session))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var s Started
	if json.Unmarshal(b, &s) != nil {
		return nil, nil
	}
	return &s, nil
}

// ForgetSession removes what WriteSession wrote, if it did.
func ForgetSession(dir, session string) error {
	err := os.Remove(sessionFile(dir, session))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
