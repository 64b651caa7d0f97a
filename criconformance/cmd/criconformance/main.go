// Command criconformance tests whether a CRI runtime implements KEP-6035 and KEP-3619.
//
//	criconformance --runtime-endpoint unix:///run/containerd/containerd.sock
//
// It exits with 0 when no promise that the runtime should keep is broken, 1 when a case failed, and 2 when something
// could not be found out or the run could not start, which every report format says. Built with CGO_ENABLED=0 it needs
// nothing but the endpoint: the tool is the only program in the test images.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/lanyard-dev/lanyard/criconformance/reporter"
)

func main() {
	if code, asked := reporter.Main(os.Args, os.Stdout, os.Stderr); asked {
		os.Exit(code)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// A second signal ends the program at once.
	context.AfterFunc(ctx, stop)
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}
