package main

import (
	"os"
	"path/filepath"
	"syscall"

	"github.com/lanyard-dev/lanyard/tools/house"
	"github.com/lanyard-dev/lanyard/tools/modproxy"
)

// work writes go.work from the list of modules.
func work(h *house.House, args []string) error {
	if len(args) != 0 {
		return errUsage
	}
	return h.WriteWork()
}

// tidy tidies the given modules, or all.
func tidy(h *house.House, args []string) error {
	modules, err := selected(h, args)
	if err != nil {
		return err
	}
	return withProxy(h, func(p *modproxy.Proxy) error {
		for _, m := range modules {
			if err := p.Tidy(h.Root, m); err != nil {
				return err
			}
		}
		return nil
	})
}

// withProxy builds the proxy of the tree and calls f while no other process uses
// its folder.
func withProxy(h *house.House, f func(*modproxy.Proxy) error) error {
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
	p, err := modproxy.Build(dir, h.Root, h.Select(house.Library, house.Tool))
	if err != nil {
		return err
	}
	return f(p)
}
