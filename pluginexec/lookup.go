package pluginexec

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
)

// Lookup returns the path of the executable that command names: command itself when it holds a path separator, else the
// first match on the PATH of this process (with PATHEXT on Windows).
//
// The error is a *[LookupError]: ErrNotFound when there is no such file, ErrNotExecutable when there is one that this
// process cannot execute and none that it can. A match in the current directory through an empty or relative PATH
// entry is refused as os/exec refuses it, with exec.ErrDot as Err.
func Lookup(command string) (string, error) {
	path, err := exec.LookPath(command)
	if err == nil {
		return path, nil
	}
	if errors.Is(err, exec.ErrDot) {
		return "", &LookupError{Command: command, Path: path, Kind: ErrNotFound, Err: exec.ErrDot}
	}
	if found := unexecutable(command); found != "" {
		return "", &LookupError{Command: command, Path: found, Kind: ErrNotExecutable, Err: reason(err)}
	}
	return "", &LookupError{Command: command, Kind: ErrNotFound, Err: reason(err)}
}

// unexecutable returns the first file that command could have meant, once the search for an executable one has ended.
func unexecutable(command string) string {
	for _, candidate := range candidates(command) {
		if _, err := os.Stat(candidate); err == nil {
			return candidate
		}
	}
	return ""
}

func candidates(command string) []string {
	if command == "" {
		return nil
	}
	if strings.ContainsRune(command, filepath.Separator) || strings.Contains(command, "/") {
		return []string{command}
	}
	var paths []string
	for _, dir := range filepath.SplitList(os.Getenv("PATH")) {
		if filepath.IsAbs(dir) {
			paths = append(paths, filepath.Join(dir, command))
		}
	}
	return paths
}

// reason strips os/exec's wrapping, which repeats the command.
func reason(err error) error {
	var wrapped *exec.Error
	if errors.As(err, &wrapped) && !errors.Is(wrapped.Err, exec.ErrNotFound) {
		return wrapped.Err
	}
	return nil
}

// startError sorts the errors of fork and exec: a file that vanished, one that cannot be executed, and the rest.
func startError(path string, err error) error {
	switch {
	case errors.Is(err, syscall.E2BIG):
		return &StartError{Path: path, Err: errors.Join(ErrTooLarge, syscall.E2BIG)}
	case isAbsent(err) && unexecutable(path) == "":
		return &LookupError{Command: path, Kind: ErrNotFound, Err: fs.ErrNotExist}
	case isAbsent(err), errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.ENOEXEC):
		return &LookupError{Command: path, Path: path, Kind: ErrNotExecutable, Err: err}
	}
	return &StartError{Path: path, Err: err}
}

// isAbsent knows both of os/exec's words for it: on Windows a name without extension is searched for at the start.
func isAbsent(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, exec.ErrNotFound)
}
