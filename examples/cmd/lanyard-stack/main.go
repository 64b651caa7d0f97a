// Command lanyard-stack starts the reference cluster on this machine: "demo" tells
// the main story and stops it, "up" keeps it running until interrupted, "cost"
// measures what the exec gates cost. "bridge" tells the bridge's story on a real
// Kubernetes, "bridge-cost" measures what the bridge costs there.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/lanyard-dev/lanyard/examples/bridge"
	"github.com/lanyard-dev/lanyard/examples/cost"
	"github.com/lanyard-dev/lanyard/examples/demo"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	root := &cobra.Command{Use: "lanyard-stack", Short: "The reference cluster", SilenceUsage: true}
	root.AddCommand(
		&cobra.Command{
			Use: "demo", Short: "Tell who ran what, and stop", Args: cobra.NoArgs,
			RunE: func(cmd *cobra.Command, _ []string) error { return inDirectory(cmd.Context(), demo.Tell) },
		},
		&cobra.Command{
			Use: "cost", Short: "Measure what the exec gates cost", Args: cobra.NoArgs,
			RunE: func(cmd *cobra.Command, _ []string) error {
				return inDirectory(cmd.Context(), func(ctx context.Context, dir string) error { return cost.Measure(ctx, dir, os.Stdout) })
			},
		},
		&cobra.Command{
			Use: "bridge", Short: "Tell whose process is whose on a real Kubernetes, and stop", Args: cobra.NoArgs,
			RunE: func(cmd *cobra.Command, _ []string) error {
				return inDirectory(cmd.Context(), func(ctx context.Context, dir string) error { return bridge.Tell(ctx, dir, os.Stdout) })
			},
		},
		&cobra.Command{
			Use: "bridge-cost", Short: "Measure what the bridge costs on a real Kubernetes", Args: cobra.NoArgs,
			RunE: func(cmd *cobra.Command, _ []string) error {
				return inDirectory(cmd.Context(), func(ctx context.Context, dir string) error { return bridge.Measure(ctx, dir, os.Stdout) })
			},
		},
		&cobra.Command{
			Use: "up", Short: "Keep the cluster running until interrupted", Args: cobra.NoArgs,
			RunE: func(cmd *cobra.Command, _ []string) error { return inDirectory(cmd.Context(), demo.Keep) },
		},
	)
	if err := root.ExecuteContext(ctx); err != nil {
		os.Exit(1)
	}
}

// inDirectory gives f a directory that is gone afterwards.
func inDirectory(ctx context.Context, f func(context.Context, string) error) (err error) {
	if err := ready(); err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "lanyard-stack-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	return f(ctx, dir)
}

// ready says what is missing to run containers here.
func ready() error {
	if os.Geteuid() != 0 {
		return fmt.Errorf("containers need root: run it as root, or in a user namespace of your own (unshare --user --map-root-user --mount --pid --fork)")
	}
	return nil
}
