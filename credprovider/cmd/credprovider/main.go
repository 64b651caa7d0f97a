package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"
)

// The exit codes.
const (
	exitOK           = 0
	exitFound        = 1
	exitUsage        = 2
	exitInconclusive = 3
)

// errFound says that the command has printed what it found.
var errFound = errors.New("found")

// errInconclusive says that the command has printed that it saw too little to say either.
var errInconclusive = errors.New("inconclusive")

// output keeps the first error of what is written: cobra drops it, and a report that nobody can read is not a success.
type output struct {
	io.Writer
	err error
}

func (o *output) Write(p []byte) (int, error) {
	n, err := o.Writer.Write(p)
	if o.err == nil {
		o.err = err
	}
	return n, err
}

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

func run(args []string, out, problems io.Writer) int {
	root := &cobra.Command{
		Use: "credprovider", Short: "Look at credential provider configurations and plugins the way a kubelet will",
		SilenceUsage: true, SilenceErrors: true, // run prints them
		DisableSuggestions: true, // they are further lines of an error
	}
	root.AddCommand(validateCommand(), explainCommand(), checkCommand())
	root.SetArgs(args)
	written := &output{Writer: out}
	root.SetOut(written)
	root.SetErr(problems)
	err := root.ExecuteContext(context.Background())
	if written.err != nil {
		err = fmt.Errorf("write the report: %w", written.err)
	}
	switch {
	case err == nil:
		return exitOK
	case errors.Is(err, errFound):
		return exitFound
	case errors.Is(err, errInconclusive):
		return exitInconclusive
	default:
		printLines(problems, faultLines(err)...)
		return exitUsage
	}
}
