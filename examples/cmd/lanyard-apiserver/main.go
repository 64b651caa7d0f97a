// Command lanyard-apiserver runs the reference API server until it is interrupted.
// Its flags have the names and meanings of kube-apiserver's.
package main

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/lanyard-dev/lanyard/examples/apiserver"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := command().ExecuteContext(ctx); err != nil {
		os.Exit(1)
	}
}

func command() *cobra.Command {
	f := newFlags()
	cmd := &cobra.Command{
		Use:          "lanyard-apiserver",
		Short:        "Serve the Kubernetes API from memory",
		Args:         cobra.NoArgs,
		SilenceUsage: true,
		RunE:         func(cmd *cobra.Command, _ []string) error { return run(cmd.Context(), f) },
	}
	f.add(cmd.Flags())
	return cmd
}

func run(ctx context.Context, f *flags) error {
	options, err := f.options()
	if err != nil {
		return err
	}
	if options.Listener, err = net.Listen("tcp", net.JoinHostPort(f.address, fmt.Sprint(f.port))); err != nil {
		return err
	}
	server, err := apiserver.New(options)
	if err != nil {
		return err
	}
	fmt.Println("API server serves on", server.URL())
	return server.Run(ctx)
}
