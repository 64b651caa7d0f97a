// Package modproxy serves the modules of the tree to the go command the way a
// module proxy would, as files, so that each module can be fetched by version; and
// computes the sums that the go command would find at their tags.
package modproxy

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"golang.org/x/mod/module"

	"github.com/lanyard-dev/lanyard/tools/house"
)

// Proxy is a directory in the layout of the GOPROXY protocol, with a module cache of
// its own beside it.
type Proxy struct {
	dir string
}

// Build packs every given module of the tree at root into dir and forgets what an
// earlier proxy in dir served, in the module cache too: a module that changed
// under the same version must be seen.
func Build(dir, root string, modules []house.Module) (*Proxy, error) {
	p := &Proxy{dir: dir}
	for _, stale := range []string{
		p.files(),
		filepath.Join(p.Cache(), house.Prefix),
		filepath.Join(p.Cache(), "cache", "download", house.Prefix),
	} {
		if err := os.RemoveAll(stale); err != nil {
			return nil, err
		}
	}
	for _, m := range modules {
		if err := p.pack(root, m); err != nil {
			return nil, fmt.Errorf("%s: %w", m.Dir, err)
		}
	}
	return p, nil
}

// With builds the proxy of the checkout's published modules and calls f, while no
// other process uses its directory.
func With(h *house.House, f func(*Proxy) error) error {
	dir := filepath.Join(h.Root, ".build", "modules")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	lock, err := os.Create(filepath.Join(dir, "lock"))
	if err != nil {
		return err
	}
	defer lock.Close()
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX); err != nil {
		return err
	}
	p, err := Build(dir, h.Root, h.Select(house.Library, house.Tool))
	if err != nil {
		return err
	}
	return f(p)
}

// Cache returns the directory of the proxy's module cache.
func (p *Proxy) Cache() string { return filepath.Join(p.dir, "cache") }

func (p *Proxy) files() string { return filepath.Join(p.dir, "proxy") }

func (p *Proxy) pack(root string, m house.Module) (err error) {
	escaped, err := module.EscapePath(m.Path())
	if err != nil {
		return err
	}
	at := filepath.Join(p.files(), filepath.FromSlash(escaped), "@v")
	if err := os.MkdirAll(at, 0o755); err != nil {
		return err
	}
	info, err := json.Marshal(map[string]any{"Version": m.Version, "Time": time.Unix(0, 0).UTC()})
	if err != nil {
		return err
	}
	mod, err := os.ReadFile(filepath.Join(root, m.Dir, "go.mod"))
	if err != nil {
		return err
	}
	for name, data := range map[string][]byte{
		"list": []byte(m.Version + "\n"), m.Version + ".info": info, m.Version + ".mod": mod,
	} {
		if err := os.WriteFile(filepath.Join(at, name), data, 0o644); err != nil {
			return err
		}
	}
	packed, err := os.Create(filepath.Join(at, m.Version+".zip"))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, packed.Close()) }()
	return archive(packed, root, m, nil)
}

// buildFlags are for every go command that uses the proxy. Without paths in what it builds, the
// build cache serves every scratch directory and module cache.
const buildFlags = "-trimpath -modcacherw -buildvcs=false"

// Env returns the environment in which the go command fetches the tree's modules
// from the proxy and all others from the machine's module cache or the default
// proxy. GOPRIVATE would send it past the proxy, so the checksum database alone is
// told not to ask for them.
func (p *Proxy) Env() ([]string, error) {
	out, err := exec.Command("go", "env", "GOPROXY", "GOMODCACHE").Output()
	if err != nil {
		return nil, err
	}
	values := strings.Split(strings.TrimSpace(string(out)), "\n")
	if len(values) != 2 {
		return nil, fmt.Errorf("go env printed %d lines, want 2", len(values))
	}
	sources := []string{
		"file://" + p.files(),
		"file://" + filepath.Join(values[1], "cache", "download"),
		values[0],
	}
	return append(
		os.Environ(),
		"GOWORK=off",
		// The go command's index of a module's packages is keyed by the module's directory and
		// version, which stay as they are when the tree changes.
		"GODEBUG=goindex=0",
		"GOFLAGS=-mod=mod "+buildFlags,
		"GONOSUMDB="+house.Prefix,
		"GOPROXY="+strings.Join(sources, ","),
		"GOMODCACHE="+p.Cache(),
	), nil
}
