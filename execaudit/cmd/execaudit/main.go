// Command execaudit tells which Kubernetes user ran what inside containers, checks exec journals, and takes environment
// values out of logs.
//
//	execaudit attribute --audit audit.log --events tetragon.json --journal exec-journal.jsonl
//	execaudit journal verify exec-journal.jsonl --key node.verify
//	execaudit redact < kubelet.log
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

	"github.com/lanyard-dev/lanyard/internal/terminal"
)

// Exit codes.
const (
	exitNothing = 0 // attribute: nothing matched; redact: done; journal verify: nothing is wrong
	exitFaults  = 1 // journal verify: something is wrong; else input that could not be read in part or as a whole; what could be was still answered
	exitUsage   = 2 // wrong flags
	exitMatched = 3 // attribute: something matched
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	os.Exit(run(ctx, os.Args[1:], streams{os.Stdin, os.Stdout, os.Stderr}))
}

type streams struct {
	in       io.Reader
	out, err io.Writer
}

func run(ctx context.Context, args []string, s streams) int {
	code := exitNothing
	root := &cobra.Command{
		Use: "execaudit", Short: "Which Kubernetes user ran this?", SilenceUsage: true, SilenceErrors: true,
	}
	root.SetArgs(args)
	root.SetIn(s.in)
	root.SetOut(s.out)
	root.SetErr(s.err)
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return usageError{err} })
	root.AddCommand(newAttribute(s, &code), newRedact(s), newJournal(s, &code))
	if err := root.ExecuteContext(ctx); err != nil {
		fmt.Fprintln(s.err, "execaudit:", terminal.Escape(err.Error()))
		return codeOf(err)
	}
	return code
}

func codeOf(err error) int {
	if fault := new(inputError); errors.As(err, fault) {
		return exitFaults
	}
	return exitUsage
}

// inputError is a fault of the input or of the output.
type inputError struct{ error }
