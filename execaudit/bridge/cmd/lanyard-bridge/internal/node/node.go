//go:build linux

package node

import (
	"context"
	"errors"
	"fmt"
	"net"
	"runtime/debug"
	"sync"
)

// version returns the program's version, from the module's.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" {
		return "unknown"
	}
	return info.Main.Version
}

// run is the daemon, until the context ends. listener may be nil.
func run(ctx context.Context, o Options, listener net.Listener) (err error) {
	o = o.withDefaults()
	status := newBoard(o)
	keeper := &keeper{Options: o, status: status}
	if !o.NoLease {
		if keeper.leases, err = o.client(); err != nil {
			return err
		}
	}
	d, err := newDaemon(o, status)
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancelCause(ctx)
	var others sync.WaitGroup
	others.Go(func() { keeper.run(ctx) })
	if listener != nil {
		others.Go(func() {
			if err := serve(ctx, listener, status.handler()); err != nil {
				stop(fmt.Errorf("serving metrics: %w", err))
			}
		})
	}
	err = d.run(ctx)
	stop(nil)
	others.Wait()
	if cause := context.Cause(ctx); !errors.Is(cause, context.Canceled) {
		err = errors.Join(cause, err)
	}
	return err
}
