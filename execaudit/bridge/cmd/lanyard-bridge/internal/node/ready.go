//go:build linux

package node

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"golang.org/x/sys/unix"

	"github.com/lanyard-dev/lanyard/execaudit/bridge/cmd/lanyard-bridge/internal/install"
	"github.com/lanyard-dev/lanyard/execaudit/bridge/cmd/lanyard-bridge/internal/installed"
	"github.com/lanyard-dev/lanyard/execaudit/bridge/oci"
	"github.com/lanyard-dev/lanyard/execaudit/bridge/readiness"
	"github.com/lanyard-dev/lanyard/execaudit/bridge/token"
)

// check looks at what is installed: readiness for the Lease, and for people why handlers are missing from it.
func (o *Options) check() (readiness.Readiness, map[string]HandlerStatus, error) {
	state, err := o.installed()
	ready := readiness.Readiness{Version: version(), Handlers: map[string]readiness.Handler{}}
	status := map[string]HandlerStatus{}
	changed, changedErr := install.Changed(o.HostRoot, o.State)
	for name, h := range state.Handlers {
		config, ids, err := o.checkHandler(state, h)
		if err == nil {
			err = unchanged(changed, changedErr, name)
		}
		s := HandlerStatus{Mode: h.Mode, Since: h.Since.UTC(), Mark: string(config.Mark), Ready: err == nil}
		if err != nil {
			s.Reason = err.Error()
		}
		status[name] = s
		if err != nil {
			continue
		}
		ready.Handlers[name] = readiness.Handler{Since: h.Since, Mode: readiness.Mode(h.Mode), Mark: string(config.Mark)}
		ready.Keys = common(ready.Keys, ids, len(ready.Handlers) == 1)
	}
	return ready, status, err
}

// unchanged says why the runtime would not execute the wrapper if it started now. A runtime that executes it still,
// since nothing was restarted, loses it with the next start: the webhook is told before that.
func unchanged(changed map[string]string, err error, name string) error {
	reason, known := changed[name]
	switch {
	case err != nil:
		return err
	case !known:
		return errors.New("the installer's record does not have it")
	case reason != "":
		return errors.New(reason)
	}
	return nil
}

// common returns the keys that all handlers have, since a Lease does not tell them apart.
func common(keys, ids []string, first bool) []string {
	if first {
		return ids
	}
	return slices.DeleteFunc(keys, func(id string) bool { return !slices.Contains(ids, id) })
}

// checkHandler says why a session of the handler could fail on this node.
func (o *Options) checkHandler(state installed.State, h installed.Handler) (oci.Config, []string, error) {
	if err := o.checkWrapper(h); err != nil {
		return oci.Config{}, nil, err
	}
	config, err := o.config(h)
	if err != nil {
		return oci.Config{}, nil, err
	}
	if config.Mark == "" {
		config.Mark = oci.MarkSessions
	}
	switch {
	case config.PassThrough:
		return config, nil, errors.New("the wrapper is configured to pass everything through")
	case state.Handlers[config.Handler].Wrapper != h.Wrapper: // which may have several names
		return config, nil, fmt.Errorf("the configuration %s is for handler %q", h.Config, config.Handler)
	case config.Node != o.Node:
		return config, nil, fmt.Errorf("the configuration %s is for node %q", h.Config, config.Node)
	case filepath.Clean(config.Spool) != filepath.Clean(o.Spool):
		return config, nil, fmt.Errorf("the wrapper's spool is %s, and %s is read", config.Spool, o.Spool)
	}
	keys, err := o.keys(config)
	if err != nil {
		return config, nil, err
	}
	return config, keys, o.checkSpool()
}

// checkWrapper wants a program at the wrapper's path that is not the runtime's.
func (o *Options) checkWrapper(h installed.Handler) error {
	wrapper, err := os.Stat(o.host(h.Wrapper))
	switch {
	case err != nil:
		return fmt.Errorf("wrapper: %w", err)
	case !wrapper.Mode().IsRegular() || wrapper.Mode()&0o111 == 0:
		return fmt.Errorf("wrapper: %s is not a program", h.Wrapper)
	}
	runtime, err := os.Stat(o.host(h.Runtime))
	if err == nil && os.SameFile(wrapper, runtime) {
		return fmt.Errorf("wrapper: %s is the runtime itself", h.Wrapper)
	}
	return nil
}

// config returns the configuration that the wrapper will find.
func (o *Options) config(h installed.Handler) (oci.Config, error) {
	for _, path := range oci.ConfigPaths(h.Wrapper) {
		text, err := os.ReadFile(o.host(path))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return oci.Config{}, fmt.Errorf("configuration: %w", err)
		}
		config, err := oci.ParseConfig(text)
		if err != nil {
			return config, fmt.Errorf("configuration %s: %w", path, err)
		}
		return config, nil
	}
	return oci.Config{}, fmt.Errorf("configuration: none for %s", h.Wrapper)
}

func (o *Options) keys(config oci.Config) ([]string, error) {
	text, err := os.ReadFile(o.host(config.Keys))
	if err != nil {
		return nil, fmt.Errorf("keys: %w", err)
	}
	keys, err := token.ParseKeys(string(text))
	if err != nil {
		return nil, fmt.Errorf("keys: %s: %w", config.Keys, err)
	}
	var ids []string
	for _, id := range keys.IDs() {
		ids = append(ids, id.String())
	}
	return ids, nil
}

// probeName is of the file by which the spool is tried; the spool's own names are others.
const probeName = ".writable"

// checkSpool wants a directory that takes records. A daemon without room of its own says nothing about the wrapper, and
// so the file system's free space is looked at as well.
func (o *Options) checkSpool() error {
	dir := o.host(o.Spool)
	var fs unix.Statfs_t
	if err := unix.Statfs(dir, &fs); err != nil {
		return fmt.Errorf("spool: %s: %w", o.Spool, err)
	}
	if free := fs.Bavail * uint64(fs.Bsize); free < MinFree {
		return fmt.Errorf("spool: %d bytes free in %s, fewer than %d", free, o.Spool, MinFree)
	}
	if fs.Files > 0 && fs.Ffree == 0 {
		return fmt.Errorf("spool: no inode free in %s", o.Spool)
	}
	probe := filepath.Join(dir, probeName)
	if err := os.WriteFile(probe, nil, 0o600); err != nil {
		return fmt.Errorf("spool: %w", err)
	}
	if err := os.Remove(probe); err != nil {
		return fmt.Errorf("spool: %w", err)
	}
	return nil
}
