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
	exitOK    = 0
	exitFound = 1
	exitUsage = 2
)

// errFound says that the command has printed what it found.
var errFound = errors.New("found")

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

func run(args []string, out, problems io.Writer) int {
	root := &cobra.Command{
		Use: "credprovider", Short: "Look at credential provider configurations and plugins the way a kubelet will",
		SilenceUsage: true, SilenceErrors: true,
	}
	root.AddCommand(validateCommand(), explainCommand(), checkCommand())
	root.SetArgs(args)
	root.SetOut(out)
	root.SetErr(problems)
	switch err := root.ExecuteContext(context.Background()); {
	case err == nil:
		return exitOK
	case errors.Is(err, errFound):
		return exitFound
	default:
		fmt.Fprintln(problems, err)
		return exitUsage
	}
}
