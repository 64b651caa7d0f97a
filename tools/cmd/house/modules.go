package main

import (
	"fmt"

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

// tidy tidies the given modules, or all, and renews the sums of their siblings.
func tidy(h *house.House, args []string) error {
	modules, err := selected(h, args)
	if err != nil {
		return err
	}
	err = modproxy.With(h, func(p *modproxy.Proxy) error {
		for _, m := range modules {
			if err := p.Tidy(h.Root, m); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	return renew(h, modules)
}

// sums writes the sums of siblings into the go.sum of each module of the workspace.
func sums(h *house.House, args []string) error {
	if len(args) != 0 {
		return errUsage
	}
	return renew(h, h.Modules)
}

func renew(h *house.House, modules []house.Module) error {
	changed, err := modproxy.WriteSums(h, modules)
	for _, dir := range changed {
		fmt.Println("renewed " + dir + "/go.sum")
	}
	return err
}
