// Command execcredential tells why a credential plugin does or does not log a client in, and checks a plugin.
//
//	execcredential explain --kubeconfig ~/.kube/config --context dev --run
//	execcredential check-plugin -- my-plugin login --user me
package main

import (
	"context"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// run runs the tool and returns its exit code: 1 when a login would fail, a plugin has faults, or the usage is wrong.
func run(ctx context.Context, args []string, out, errs io.Writer) int {
	root := command()
	root.SetArgs(args)
	root.SetOut(out)
	root.SetErr(errs)
	if err := root.ExecuteContext(ctx); err != nil {
		line(errs, "Error: %v", err)
		return 1
	}
	return 0
}

func command() *cobra.Command {
	root := &cobra.Command{
		Use:                "execcredential",
		Short:              "Explain and check credential plugins (KEP-541)",
		SilenceUsage:       true,
		SilenceErrors:      true, // run prints them
		DisableSuggestions: true, // they are further lines of an error
	}
	root.AddCommand(explainCommand(), checkCommand())
	return root
}
