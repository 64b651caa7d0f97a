package keys

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/lanyard-dev/lanyard/execaudit/bridge/token"
)

// MaxKeys is how many private keys a file may have: the one in use, and during a rotation the one before.
const MaxKeys = 2

// Private is a private key of the webhook's.
type Private struct {
	token.Key
	// From is when the webhook begins to sign with it; before, it knows tokens of it, which another replica may have
	// signed by a clock that is ahead. The zero time is at once.
	From time.Time
}

// Parse reads private keys, one a line, the preferred one first; behind a key and a space may stand its From, as in RFC
// 3339. Blank lines and lines that begin with # are passed over. Its errors repeat nothing of the text.
func Parse(text []byte) ([]Private, error) {
	var keys []Private
	n := 0
	for line := range strings.Lines(string(text)) {
		n++
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		word, from, timed := strings.Cut(line, " ")
		key, err := token.ParseKey(word)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
		if slices.ContainsFunc(keys, func(k Private) bool { return k.Public() == key.Public() }) {
			return nil, fmt.Errorf("line %d: duplicate key %s", n, key.Public().ID())
		}
		private := Private{Key: key}
		if timed {
			if private.From, err = time.Parse(time.RFC3339, strings.TrimSpace(from)); err != nil {
				return nil, fmt.Errorf("line %d: behind the key stands no time as in RFC 3339", n)
			}
		}
		keys = append(keys, private)
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
func text(keys []Private) string {
	var out strings.Builder
	for _, key := range keys {
		fmt.Fprintf(&out, "# %s\n%s", key.Public().ID(), key.Reveal())
		if !key.From.IsZero() {
			out.WriteString(" " + key.From.UTC().Format(time.RFC3339))
		}
		out.WriteString("\n")
	}
	return out.String()
}

func readFile(name string) ([]Private, error) {
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
func createFile(name string, keys []Private) error {
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
func replaceFile(name string, keys []Private) error {
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
func writeKeys(file *os.File, keys []Private) error {
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
