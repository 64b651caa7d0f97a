package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/lanyard-dev/lanyard/tools/cross"
	"github.com/lanyard-dev/lanyard/tools/fuzz"
	"github.com/lanyard-dev/lanyard/tools/house"
	"github.com/lanyard-dev/lanyard/tools/modproxy"
	"github.com/lanyard-dev/lanyard/tools/ratio"
)

// crossCompile compiles the given library modules, or all, for every target.
func crossCompile(h *house.House, args []string) error {
	modules, err := selected(h, args, house.Library)
	if err != nil {
		return err
	}
	for _, t := range cross.Targets() {
		for _, m := range modules {
			if err := cross.Compile(os.Stderr, h, t, m); err != nil {
				return err
			}
			fmt.Printf("ok  %-14s %s\n", t, m.Dir)
		}
	}
	return nil
}

// prove builds, vets and tests each published module alone, fetched by version,
// and runs its README's example in a consumer module.
func prove(h *house.House, args []string) error {
	modules, err := selected(h, args, house.Library, house.Tool)
	if err != nil {
		return err
	}
	return modproxy.With(h, func(p *modproxy.Proxy) error {
		for _, m := range modules {
			started := time.Now()
			if err := proveOne(h, p, m); err != nil {
				return fmt.Errorf("%s: %w", m.Dir, err)
			}
			fmt.Printf("ok  %-40s %s  %.1fs\n", m.Dir, m.Version, time.Since(started).Seconds())
		}
		return nil
	})
}

func proveOne(h *house.House, p *modproxy.Proxy, m house.Module) error {
	if err := p.Prove(os.Stderr, m); err != nil {
		return err
	}
	if m.Kind == house.Tool {
		return p.Install(os.Stderr, m)
	}
	if m.Internal() {
		return nil // no user can import it
	}
	readme, err := os.ReadFile(filepath.Join(h.Root, m.Dir, "README.md"))
	if err != nil {
		return err
	}
	program, err := modproxy.Example(string(readme))
	if err != nil {
		return err
	}
	_, err = p.Consume(m, program)
	return err
}

// fuzzAll runs each fuzz target of the published modules for the given time.
func fuzzAll(h *house.House, args []string) error {
	if len(args) == 0 {
		return errUsage
	}
	each, err := time.ParseDuration(args[0])
	if err != nil {
		return fmt.Errorf("%w: %v", errUsage, err)
	}
	modules, err := selected(h, args[1:], house.Library, house.Tool)
	if err != nil {
		return err
	}
	var failed []error
	for _, m := range modules {
		targets, err := fuzz.Targets(h, m)
		if err != nil {
			return err
		}
		for _, t := range targets {
			if err := fuzz.Run(os.Stdout, h, t, each); err != nil {
				failed = append(failed, err)
			}
		}
	}
	return errors.Join(failed...)
}

// benchRounds is odd, so that a median is a figure that was measured, and at least the six that an interval of 95%
// confidence needs.
const benchRounds = 7

// bench runs the peers' benchmarks beside ours and prints the ratios.
func bench(h *house.House, args []string) error {
	modules, err := selected(h, args, house.Peers, house.Heavy)
	if err != nil {
		return err
	}
	for _, m := range modules {
		fmt.Printf("# %s, median of %d interleaved rounds\n", m.Dir, benchRounds)
		points, load, err := ratio.Run(os.Stderr, h, m, benchRounds, "100ms")
		if err != nil {
			return err
		}
		ratio.Print(os.Stdout, points)
		fmt.Println("# " + load.String())
	}
	return nil
}
