// Command lanyard-bridge carries the identity of exec sessions on clusters without KEP-6035.
//
//	lanyard-bridge keys new --out key
//	lanyard-bridge webhook --key-file key --tls-cert-file tls.crt --tls-private-key-file tls.key --client-ca-file ca.crt
//	lanyard-bridge install --mode runtimeclass
//	lanyard-bridge node
//	lanyard-bridge sessions
//
// It exits with 0 when done, 1 when something went wrong, and 2 when the flags are wrong; some commands have codes of
// their own, which their help names.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/lanyard-dev/lanyard/execaudit/bridge/cmd/lanyard-bridge/internal/keys"
	"github.com/lanyard-dev/lanyard/execaudit/bridge/cmd/lanyard-bridge/internal/usage"
	"github.com/lanyard-dev/lanyard/execaudit/bridge/cmd/lanyard-bridge/internal/webhook"
	"github.com/lanyard-dev/lanyard/internal/terminal"
)

// Exit codes.
const (
	exitDone  = 0
	exitFault = 1
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// A second signal ends the program at once.
	context.AfterFunc(ctx, stop)
	os.Exit(run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

func run(ctx context.Context, args []string, in io.Reader, out, errs io.Writer) int {
	root := &cobra.Command{
		Use: "lanyard-bridge", Short: "Whose process is it, on clusters as they are",
		SilenceUsage: true, SilenceErrors: true,
	}
	root.SetArgs(args)
	root.SetIn(in)
	root.SetOut(out)
	root.SetErr(errs)
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return usage.Error{Err: err} })
	root.AddCommand(webhook.Command(), keys.Command())
	root.AddCommand(ofNodes()...)
	if err := root.ExecuteContext(ctx); err != nil {
		if text := err.Error(); text != "" {
			fmt.Fprintln(errs, "lanyard-bridge:", terminal.Escape(text))
		}
		return codeOf(err)
	}
	return exitDone
}

// codeOf lets a command's error name its own exit code by a method ExitCode; 0 there means none of its own.
func codeOf(err error) int {
	var own interface{ ExitCode() int }
	if errors.As(err, &own) && own.ExitCode() != exitDone {
		return own.ExitCode()
	}
	return exitFault
}
