//go:build linux

package main

import (
	"errors"
	"io/fs"
	"path"
	"slices"
	"strings"
	"syscall"

	"github.com/lanyard-dev/lanyard/execaudit/bridge/oci"
)

// defaultRoots are where runc and crun keep their state as root, where they are not told.
var defaultRoots = [...]string{"/run/runc", "/run/crun"}

// bundle returns what the bundle of the call's container says, which the runtime's own state of it names.
func (w *wrapper) bundle() (oci.Bundle, error) {
	roots := defaultRoots[:]
	if w.call.Root != "" {
		roots = []string{w.call.Root}
	}
	for _, root := range roots {
		runc, crun, err := oci.StatePath(root, w.call.ID)
		if err != nil {
			return oci.Bundle{}, err
		}
		for _, name := range [...]string{runc, crun} {
			state, err := readFile(name, oci.MaxBundleBytes)
			if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
				continue
			}
			if err != nil {
				return oci.Bundle{}, err
			}
			dir, err := oci.ParseState(state)
			if err != nil {
				return oci.Bundle{}, err
			}
			return readBundle(dir)
		}
	}
	return oci.Bundle{}, &oci.BundleFault{Thing: "the runtime's state", Rule: "is not under " + strings.Join(roots, " or ")}
}

func readBundle(dir string) (oci.Bundle, error) {
	text, err := readFile(path.Join(dir, "config.json"), oci.MaxBundleBytes)
	if err != nil {
		return oci.Bundle{}, err
	}
	return oci.ParseBundle(text)
}

// unmarked reports whether the container's processes are to have no mark.
func (w *wrapper) unmarked(bundle oci.Bundle) bool {
	return w.config.Mark == oci.MarkOff || bundle.Unmarked || slices.Contains(w.config.UnmarkedNamespaces, bundle.Namespace)
}
