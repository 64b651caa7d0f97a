//go:build linux

package install

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/lanyard-dev/lanyard/execaudit/bridge/cmd/lanyard-bridge/internal/runtimeconf"
)

// planner is the configuration of either runtime.
type planner interface {
	Handlers() (map[string]runtimeconf.Handler, string, error)
	Plan(...runtimeconf.Change) ([]runtimeconf.Patch, error)
}

// configOf returns the path of the running runtime's main file: the one of its command line, or its default.
func (h host) configOf(a *asked, flag string) string {
	path := "/etc/containerd/config.toml"
	if a.kind == kindCRIO {
		path = "/etc/crio/crio.conf"
	}
	if flag != "" {
		return flag
	}
	line, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", a.pid))
	args := strings.Split(strings.TrimRight(string(line), "\x00"), "\x00")
	for i, arg := range args {
		name, value, joined := strings.Cut(arg, "=")
		if name != "--config" && name != "-config" && name != "-c" {
			continue
		}
		if !joined && i+1 < len(args) {
			value = args[i+1]
		}
		if filepath.IsAbs(value) {
			path = value
		}
	}
	return path
}

// errTemplate: a distribution's own program writes the file anew at each start.
var errTemplate = errors.New("is written anew from a template at each start: use mode bind, or change the template")

// planner reads the runtime's configuration.
func (h host) planner(a *asked, main string) (planner, error) {
	if strings.Contains(main, "/rancher/") {
		return nil, fmt.Errorf("%s %w", main, errTemplate)
	}
	if a.kind == kindCRIO {
		c := runtimeconf.CRIO{Path: filepath.Join(main+".d", runtimeconf.DropIn+".conf"), Running: a.text}
		names, err := filepath.Glob(h.path(main+".d") + "/*")
		for _, path := range append([]string{h.path(main)}, names...) {
			text, readErr := h.read(h.back(path))
			if err = errors.Join(err, readErr); text != nil {
				c.Files = append(c.Files, runtimeconf.File{Path: h.back(path), Text: text})
			}
		}
		return c, err
	}
	c := runtimeconf.Containerd{Major: a.major(), Main: main}
	loaded, pending := map[string]bool{}, []string{main}
	for ; len(pending) > 0; pending = pending[1:] {
		path := pending[0]
		if loaded[path] {
			continue
		}
		loaded[path] = true
		text, err := h.read(path)
		if err != nil {
			return nil, err
		}
		if text == nil {
			if path == main {
				break
			}
			return nil, fmt.Errorf("%s is imported and not there", path)
		}
		f := runtimeconf.File{Path: path, Text: text}
		c.Files = append(c.Files, f)
		imports, err := runtimeconf.Imports(f, c.Major)
		if err != nil {
			return nil, err
		}
		for _, pattern := range imports {
			if !strings.Contains(pattern, "*") {
				pending = append(pending, pattern)
				continue
			}
			matches, err := filepath.Glob(h.path(pattern))
			if err != nil {
				return nil, err
			}
			for _, match := range matches {
				pending = append(pending, h.back(match))
			}
		}
	}
	return c, nil
}

// back returns the host's path of a path below its root.
func (h host) back(path string) string {
	if h.root == "" {
		return path
	}
	return filepath.Join("/", strings.TrimPrefix(path, filepath.Clean(h.root)))
}

// apply writes the patches' last texts. What is on the disk must be what they were made from.
func (h host) apply(patches []runtimeconf.Patch) error {
	last := map[string][]byte{}
	for _, p := range patches {
		if _, there := last[p.Path]; !there {
			if now, err := h.read(p.Path); err != nil || !bytes.Equal(now, p.Before) {
				return errors.Join(err, fmt.Errorf("%s was changed at the same time", p.Path))
			}
		}
		last[p.Path] = p.After
	}
	for i, p := range patches {
		if slices.ContainsFunc(patches[:i], func(former runtimeconf.Patch) bool { return former.Path == p.Path }) {
			continue
		}
		if err := h.write(p.Path, last[p.Path], 0o644); err != nil {
			return err
		}
	}
	return nil
}

// undo takes the edits back, the last one first. Either all of them are found, or nothing is written.
func (h host) undo(r *record) error {
	texts := map[string][]byte{}
	created := map[string]bool{}
	var faults []error
	for _, e := range slices.Backward(r.Edits) {
		text, seen := texts[e.Path]
		if !seen {
			var err error
			if text, err = h.read(e.Path); err != nil {
				return err
			}
		}
		if e.Gone(text) {
			if resolved, err := h.resolve(e.Path); err == nil {
				removeHalf(h.path(resolved))
			}
			continue
		}
		text, err := e.Undo(text)
		if faults = append(faults, err); err == nil {
			texts[e.Path], created[e.Path] = text, e.Create
		}
	}
	if err := errors.Join(faults...); err != nil {
		return err
	}
	for path, text := range texts {
		var err error
		if created[path] && len(text) == 0 {
			err = h.remove(path)
		} else {
			err = h.write(path, text, 0o644)
		}
		if err != nil {
			return err
		}
	}
	for _, directory := range r.Directories {
		_ = os.Remove(h.path(directory)) // unless others use it by now
	}
	r.Edits, r.Directories = nil, nil
	return nil
}

// dump returns the configuration as the program of the running containerd reads it, or nil where it cannot be asked.
func (h host) dump(ctx context.Context, a *asked, main string) []byte {
	if a.kind != kindContainerd || h.root != "" || a.pid == 0 {
		return nil
	}
	program, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", a.pid))
	if err != nil {
		return nil
	}
	text, err := exec.CommandContext(ctx, program, "--config", main, "config", "dump").Output()
	if err != nil {
		return nil
	}
	return text
}
