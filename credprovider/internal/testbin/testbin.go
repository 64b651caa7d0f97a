// Package testbin builds the plugin of the tests.
package testbin

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
)

// Build compiles the package at dir, relative to the caller's, into a new directory and returns the executable's path.
// The caller removes the directory.
func Build(dir string) (string, error) {
	output, err := os.MkdirTemp("", "testbin")
	if err != nil {
		return "", err
	}
	path := filepath.Join(output, filepath.Base(dir))
	if runtime.GOOS == "windows" {
		path += ".exe"
	}
	out, err := exec.Command("go", "build", "-o", path, dir).CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("go build %s: %w: %s", dir, err, strings.TrimSpace(string(out)))
	}
	return path, nil
}
