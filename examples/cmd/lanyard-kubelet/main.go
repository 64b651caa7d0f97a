// Command lanyard-kubelet runs the reference kubelet until it is interrupted.
package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"
	cliflag "k8s.io/component-base/cli/flag"

	"github.com/lanyard-dev/lanyard/examples/gates"
	"github.com/lanyard-dev/lanyard/examples/kubelet"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := command().ExecuteContext(ctx); err != nil {
		os.Exit(1)
	}
}

func command() *cobra.Command {
	var file string
	over := map[string]bool{}
	var require bool
	var minor int
	cmd := &cobra.Command{
		Use:          "lanyard-kubelet --config FILE",
		Short:        "Run the pods that the API server binds to this node",
		Args:         cobra.NoArgs,
		SilenceUsage: true,
		RunE: func(cmd *cobra.Command, _ []string) error {
			config, err := kubelet.LoadConfig(file)
			if err != nil {
				return err
			}
			override(&config, over, require, minor)
			return run(cmd.Context(), config)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&file, "config", "", "configuration file (required)")
	flags.Var(cliflag.NewMapStringBool(&over), "feature-gates", "gates as NAME=BOOL, over those of the file")
	flags.BoolVar(&require, "require-exec-env-support", false, "refuse an exec with an environment that the runtime would lose")
	flags.IntVar(&minor, "emulated-minor", 0, fmt.Sprintf("Kubernetes minor version to play (%[1]d without); a newer one is treated as %[1]d", gates.MaxMinor))
	_ = cmd.MarkFlagRequired("config")
	return cmd
}

// override puts what the command line says over what the file says.
func override(c *kubelet.Config, set map[string]bool, require bool, minor int) {
	if c.FeatureGates == nil {
		c.FeatureGates = map[string]bool{}
	}
	for name, on := range set {
		c.FeatureGates[name] = on
	}
	c.RequireExecEnvSupport = c.RequireExecEnvSupport || require
	if minor != 0 {
		c.EmulatedMinor = minor
	}
}

func run(ctx context.Context, config kubelet.Config) error {
	k, err := kubelet.New(config, slog.New(slog.NewTextHandler(os.Stderr, nil)))
	if err != nil {
		return err
	}
	fmt.Printf("kubelet %s serves on %s\n", config.NodeName, k.Address())
	return k.Run(ctx)
}
