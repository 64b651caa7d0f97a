package kubeconfig

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// Paths returns the files that kubectl reads without flags: those listed in KUBECONFIG, each once, else ~/.kube/config.
// It is nil when neither is known.
func Paths() []string {
	var paths []string
	for _, path := range filepath.SplitList(os.Getenv("KUBECONFIG")) {
		if path != "" && !slices.Contains(paths, path) {
			paths = append(paths, path)
		}
	}
	if paths != nil {
		return paths
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return nil
	}
	return []string{filepath.Join(home, ".kube", "config")}
}

// Load reads the files, makes each one's relative paths absolute and merges them. With several files one that is
// missing is left out; a single one has to be there. Errors are *[FileError] around those of the file system and of
// [Parse].
func Load(paths ...string) (*Config, error) {
	var configs []*Config
	for _, path := range paths {
		config, err := loadFile(path)
		switch {
		case err == nil:
			configs = append(configs, config)
		case len(paths) > 1 && errors.Is(err, fs.ErrNotExist):
		default:
			return nil, &FileError{Path: path, Err: err}
		}
	}
	return Merge(configs...), nil
}

func loadFile(path string) (*Config, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	config, err := Parse(file)
	if err != nil {
		return nil, err
	}
	return config.ResolvePaths(filepath.Dir(path)), nil
}
