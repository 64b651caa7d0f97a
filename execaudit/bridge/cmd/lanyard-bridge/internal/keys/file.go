package keys

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/lanyard-dev/lanyard/execaudit/bridge/token"
)

// MaxKeys is how many private keys a file may have: the one in use, and during a rotation the one before.
const MaxKeys = 2

// Parse reads private keys, one a line, the preferred one first; blank lines and lines that begin with # are passed
// over. Its errors repeat nothing of the text.
func Parse(text []byte) ([]token.Key, error) {
	var keys []token.Key
	n := 0
	for line := range strings.Lines(string(text)) {
		n++
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		key, err := token.ParseKey(line)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
		if slices.ContainsFunc(keys, func(k token.Key) bool { return k.Public() == key.Public() }) {
			return nil, fmt.Errorf("line %d: duplicate key %s", n, key.Public().ID())
		}
		keys = append(keys, key)
	}
	switch {
	case len(keys) == 0:
		return nil, errors.New("there is no private key")
	case len(keys) > MaxKeys:
		return nil, fmt.Errorf("there are %d private keys, more than %d", len(keys), MaxKeys)
	}
	return keys, nil
}

// text returns the keys as Parse takes them. It is a secret.
func text(keys []token.Key) string {
	var out strings.Builder
	for _, key := range keys {
		fmt.Fprintf(&out, "# %s\n%s\n", key.Public().ID(), key.Reveal())
	}
	return out.String()
}

func readFile(name string) ([]token.Key, error) {
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	keys, err := Parse(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return keys, nil
}

// createFile makes a file for its owner alone, and leaves one alone that is there.
func createFile(name string, keys []token.Key) error {
	file, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	if err := writeKeys(file, keys); err != nil {
		return errors.Join(err, os.Remove(name))
	}
	return syncDirectory(name)
}

// replaceFile puts the keys in a file's place, at once: who reads it has the old ones or the new. It keeps its mode and
// its owner.
func replaceFile(name string, keys []token.Key) error {
	name, err := filepath.EvalSymlinks(name)
	if err != nil {
		return err
	}
	info, err := os.Stat(name)
	if err != nil {
		return err
	}
	file, err := os.CreateTemp(filepath.Dir(name), ".keys-*") // 0600
	if err != nil {
		return err
	}
	err = keepOwner(file, info)
	if err == nil {
		err = file.Chmod(info.Mode().Perm())
	}
	if err != nil {
		return errors.Join(err, file.Close(), os.Remove(file.Name()))
	}
	if err := writeKeys(file, keys); err != nil {
		return errors.Join(err, os.Remove(file.Name()))
	}
	if err := os.Rename(file.Name(), name); err != nil {
		return errors.Join(err, os.Remove(file.Name()))
	}
	return syncDirectory(name)
}

// writeKeys closes the file.
func writeKeys(file *os.File, keys []token.Key) error {
	_, err := file.WriteString(text(keys))
	if err == nil {
		err = file.Sync()
	}
	return errors.Join(err, file.Close())
}

func syncDirectory(of string) error {
	directory, err := os.Open(filepath.Dir(of))
	if err != nil {
		return err
	}
	return errors.Join(directory.Sync(), directory.Close())
}
