package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/lanyard-dev/lanyard/execcredential"
	"github.com/lanyard-dev/lanyard/internal/pluginexec"
	"github.com/spf13/pflag"
)

// limits bound a run.
type limits struct{ timeout time.Duration }

var defaultLimits = limits{timeout: time.Minute}

func (l *limits) register(flags *pflag.FlagSet) {
	flags.DurationVar(&l.timeout, "timeout", l.timeout, "time limit of a run")
}

// report runs the plugin and says what it did and what a client would make of it. Standard error of the plugin is shown, its output never.
func report(ctx context.Context, out io.Writer, command pluginexec.Command, version string, limits limits) error {
	command.Timeout = limits.timeout
	begin := time.Now()
	result, err := pluginexec.Run(ctx, command)
	fmt.Fprintf(out, "run        %v\n", time.Since(begin).Round(time.Millisecond))
	if text := strings.TrimRight(string(stderrOf(result, err)), "\n"); text != "" {
		for line := range strings.SplitSeq(text, "\n") {
			fmt.Fprintf(out, "stderr     %q\n", line)
		}
	}
	if err != nil {
		fmt.Fprintf(out, "exit       %v\n", err)
		return err
	}
	fmt.Fprintf(out, "exit       0, %d bytes of output\n", len(result.Stdout))
	credential, err := execcredential.ParseAnswer(result.Stdout, version)
	if err != nil {
		fmt.Fprintf(out, "answer     %v\n", err)
		return err
	}
	describe(out, credential, time.Now())
	return nil
}

func stderrOf(result pluginexec.Result, err error) []byte {
	var exit *pluginexec.ExitError
	var timeout *pluginexec.TimeoutError
	var large *pluginexec.OutputTooLargeError
	switch {
	case errors.As(err, &exit):
		return exit.Stderr
	case errors.As(err, &timeout):
		return timeout.Stderr
	case errors.As(err, &large):
		return large.Stderr
	}
	return result.Stderr
}

// describe says what the credential is and how long a client keeps it.
func describe(out io.Writer, credential *execcredential.Credential, now time.Time) {
	fmt.Fprintf(out, "answer     %v\n", credential)
	if certificate := credential.Certificate(); certificate != nil {
		leaf := certificate.Leaf
		fmt.Fprintf(out, "subject    %s, issued %s\n", leaf.Subject, leaf.NotBefore.Format(time.RFC3339))
		if now.After(leaf.NotAfter) {
			fmt.Fprintf(out, "warning    the certificate ended at %s; clients do not look at that, servers do\n", leaf.NotAfter.Format(time.RFC3339))
		}
	}
	switch expires := credential.Expires(); {
	case expires.IsZero():
		fmt.Fprintln(out, "client     keeps it until it ends, or until the server answers 401")
	case credential.ValidAt(now):
		fmt.Fprintf(out, "client     keeps it for %v, or until the server answers 401\n", expires.Sub(now).Round(time.Second))
	default:
		fmt.Fprintln(out, "client     uses it for a moment and asks again after a pause: it has expired already; is a clock wrong?")
	}
}
