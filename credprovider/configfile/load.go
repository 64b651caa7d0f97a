package configfile

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/lanyard-dev/lanyard/credprovider"
)

const (
	// MaxFileBytes is the largest configuration file that is read.
	MaxFileBytes = 4 << 20 // 4 MiB
	// MaxFiles is the largest number of configuration files in a directory.
	MaxFiles = 1000
)

// Loaded is a configuration and what identifies it.
type Loaded struct {
	// Config holds the providers of all files in the order of the files; each has its Origin.
	Config credprovider.Config
	// Hash is "sha256:" and the hexadecimal hash of all files in order, each with its length before it: the label of
	// kubelet_credential_provider_config_info. Of a single file it is not the sum of its content.
	Hash string
	// Files are the paths that were read, ascending.
	Files []string
}

var (
	// ErrNoPath is the condition of an empty path.
	ErrNoPath = errors.New("credential provider config path is empty")
	// ErrNoFiles is the condition of a directory without a configuration file.
	ErrNoFiles = errors.New("no configuration files found")
	// ErrDuplicateName is the condition of two providers with one name.
	ErrDuplicateName = errors.New("duplicate provider name")
	// ErrTooLarge is the condition of a file over MaxFileBytes, or of more than MaxFiles files.
	ErrTooLarge = errors.New("configuration too large")
	// ErrNotRegular is the condition of a file that is a device, a pipe or a socket, which could hang the reader.
	ErrNotRegular = errors.New("not a regular file")
)

// Load reads the file at path, whatever its extension, or those files in the directory at path that end in .json, .yaml
// or .yml, sorted by name. Subdirectories are not entered; hidden files count. One bad file fails the whole.
//
// The result is not validated: see [credprovider.Validate]. Errors: ErrNoPath, ErrNoFiles, ErrDuplicateName,
// ErrTooLarge, ErrNotRegular, *[DecodeError], and those of the file system.
//
// Source: Kubernetes 1.36, readCredentialProviderConfig.
func Load(path string) (*Loaded, error) {
	if path == "" {
		return nil, ErrNoPath
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("unable to access path %q: %w", path, err)
	}
	files := []string{path}
	if info.IsDir() {
		if files, err = list(path); err != nil {
			return nil, err
		}
	}
	l := newLoader()
	for _, file := range files {
		data, err := readBounded(file)
		if err != nil {
			return nil, err
		}
		if err := l.add(file, data); err != nil {
			return nil, err
		}
	}
	return l.loaded(), nil
}

// Read reads one configuration from r. The name stands for a path in errors and origins; it may be empty. Errors are
// those of [Load] and of r.
func Read(name string, r io.Reader) (*Loaded, error) {
	data, err := readAll(name, r)
	if err != nil {
		return nil, err
	}
	l := newLoader()
	if err := l.add(name, data); err != nil {
		return nil, err
	}
	return l.loaded(), nil
}

// list returns the paths of the configuration files in dir, ascending.
func list(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("read directory %q: %w", dir, err)
	}
	var files []string
	for _, e := range entries {
		if !e.IsDir() && slices.Contains([]string{".json", ".yaml", ".yml"}, filepath.Ext(e.Name())) {
			files = append(files, filepath.Join(dir, e.Name()))
		}
	}
	switch {
	case len(files) == 0:
		return nil, fmt.Errorf("%w in directory %q", ErrNoFiles, dir)
	case len(files) > MaxFiles:
		return nil, fmt.Errorf("%w: directory %q has %d files, the limit is %d", ErrTooLarge, dir, len(files), MaxFiles)
	}
	slices.Sort(files)
	return files, nil
}

// readBounded asks what a file is before it opens it: opening a pipe without a writer waits for ever.
func readBounded(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("unable to read file %q: %w", path, err)
	}
	if !info.Mode().IsRegular() {
		return nil, &fs.PathError{Op: "read", Path: path, Err: ErrNotRegular}
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("unable to read file %q: %w", path, err)
	}
	defer file.Close()
	return readAll(path, file)
}

func readAll(name string, r io.Reader) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(r, MaxFileBytes+1))
	if err != nil {
		return nil, fmt.Errorf("unable to read file %q: %w", name, err)
	}
	if len(data) > MaxFileBytes {
		return nil, fmt.Errorf("%w: %q has more than %d bytes", ErrTooLarge, name, MaxFileBytes)
	}
	return data, nil
}

// loader gathers files into one configuration.
type loader struct {
	result Loaded
	hash   hash.Hash
	names  map[string]credprovider.Origin
}

func newLoader() *loader {
	return &loader{hash: sha256.New(), names: map[string]credprovider.Origin{}}
}

func (l *loader) add(file string, data []byte) error {
	config, err := decode(file, data)
	if err != nil {
		return err
	}
	for i, provider := range config.Providers {
		provider.Origin = credprovider.Origin{File: file, Index: i}
		if first, seen := l.names[provider.Name]; seen {
			return fmt.Errorf("%w %q found in configuration file(s): %v and %v", ErrDuplicateName, provider.Name, first, provider.Origin)
		}
		l.names[provider.Name] = provider.Origin
		l.result.Config.Providers = append(l.result.Config.Providers, provider)
	}
	l.result.Files = append(l.result.Files, file)
	l.hash.Write(binary.BigEndian.AppendUint64(nil, uint64(len(data))))
	l.hash.Write(data)
	return nil
}

func (l *loader) loaded() *Loaded {
	l.result.Config.Kind, l.result.Config.APIVersion = credprovider.ConfigKind, credprovider.ConfigV1
	l.result.Hash = "sha256:" + hex.EncodeToString(l.hash.Sum(nil))
	return &l.result
}

// oneLine makes a decoder's text fit into one line of a log.
func oneLine(text string) string {
	return strings.Join(strings.FieldsFunc(text, func(r rune) bool { return r == '\n' }), "; ")
}
