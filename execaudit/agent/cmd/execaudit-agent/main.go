// Command execaudit-agent tells what the processes of a node's exec sessions do.
//
//	execaudit-agent probe
//	execaudit-agent run --output /var/log/lanyard/events.jsonl
//	execaudit-agent status
//	execaudit-agent top
//
// It exits with 0 when done, 1 when something went wrong or the agent is not well, and 2 when the flags are wrong;
// probe has codes of its own, which its help names.
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

	"github.com/lanyard-dev/lanyard/execaudit/agent/cmd/execaudit-agent/internal/usage"
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
	os.Exit(execute(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

func execute(ctx context.Context, args []string, in io.Reader, out, errs io.Writer) int {
	root := &cobra.Command{
		Use: "execaudit-agent", Short: "What the processes of exec sessions do, from the kernel",
		SilenceUsage: true, SilenceErrors: true,
	}
	root.SetArgs(args)
	root.SetIn(in)
	root.SetOut(out)
	root.SetErr(errs)
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return usage.Error{Err: err} })
	root.AddCommand(ofNodes()...)
	if err := root.ExecuteContext(ctx); err != nil {
		if text := err.Error(); text != "" {
			fmt.Fprintln(errs, "execaudit-agent:", terminal.Escape(text))
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
