// Command execcredential tells why a credential plugin does or does not log a client in, and checks a plugin.
//
//	execcredential explain --kubeconfig ~/.kube/config --context dev --run
//	execcredential check-plugin -- my-plugin login --user me
package main

import (
	"context"
	"os"
	"os/signal"

	"github.com/spf13/cobra"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := command().ExecuteContext(ctx)
	stop()
	if err != nil {
		os.Exit(1)
	}
}

func command() *cobra.Command {
	root := &cobra.Command{
		Use:           "execcredential",
		Short:         "Explain and check credential plugins (KEP-541)",
		SilenceUsage:  true,
		SilenceErrors: false,
	}
	root.AddCommand(explainCommand(), checkCommand())
	return root
}
