// Package parts finds the programs that tests and the stack run: runc, containerd, the container monitor and others, as
// `make parts` builds them.
package parts

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// Variable is the environment variable that names another directory to look in first; RUNC names runc itself.
const Variable = "LANYARD_BIN"

// ErrMissing says that a program was not built.
var ErrMissing = errors.New("not built, run `make parts`")

// Find returns the path of the program: in the directory that LANYARD_BIN names, or in .build/bin of the checkout that
// the working directory is in. For "runc", RUNC names the file itself. [ErrMissing] if it is not there.
func Find(name string) (string, error) {
	if path := os.Getenv("RUNC"); name == "runc" && path != "" {
		return path, nil
	}
	dir := os.Getenv(Variable)
	if dir == "" {
		root, err := Checkout()
		if err != nil {
			return "", fmt.Errorf("%s: %s is not set: %w", name, Variable, err)
		}
		dir = filepath.Join(root, ".build", "bin")
	}
	path := filepath.Join(dir, name)
	if _, err := os.Stat(path); err != nil {
		return "", fmt.Errorf("%s: %w", path, ErrMissing)
	}
	return path, nil
}

// Checkout is the root of the tree that the working directory is in: the nearest directory upwards that has the list of
// modules. It is an error where none has.
func Checkout() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "modules.txt")); err == nil {
			return dir, nil
		}
		up := filepath.Dir(dir)
		if up == dir {
			return "", errors.New("not in a checkout")
		}
		dir = up
	}
}
