// Command supgroups explains as which user and in which groups the containers of a pod start, and finds the pods whose
// processes are in groups that nobody asked for.
//
//	supgroups explain --image app.tar --pod pod.yaml
//	kubectl get pods -A -o json | supgroups scan
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// A second signal ends the program at once.
	context.AfterFunc(ctx, stop)
	os.Exit(run(ctx, os.Args[1:], streams{in: os.Stdin, out: os.Stdout, err: os.Stderr}))
}

func run(ctx context.Context, args []string, s streams) int {
	cmd, code := newCommand(s)
	cmd.SetArgs(args)
	if err := cmd.ExecuteContext(ctx); err != nil {
		printError(s.err, err)
		return exitError
	}
	return *code
}
