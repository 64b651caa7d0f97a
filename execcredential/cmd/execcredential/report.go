package main

import (
	"context"
	"errors"
	"io"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/lanyard-dev/lanyard/execcredential"
	"github.com/lanyard-dev/lanyard/pluginexec"
	"github.com/lanyard-dev/lanyard/redact"
)

// limits bound a run.
type limits struct{ timeout time.Duration }

var defaultLimits = limits{timeout: time.Minute}

func (l *limits) register(flags *pflag.FlagSet) {
	flags.DurationVar(&l.timeout, "timeout", l.timeout, "time limit of a run")
}

// report runs the plugin and says what it did and what a client would make of it. Standard error of the plugin is
// shown, its output never.
func report(ctx context.Context, out io.Writer, command pluginexec.Command, version string, limits limits) error {
	command.Timeout = limits.timeout
	begin := time.Now()
	result, err := pluginexec.Run(ctx, command)
	line(out, "run        %v", time.Since(begin).Round(time.Millisecond))
	if text := strings.TrimRight(string(stderrOf(result, err).Reveal()), "\n"); text != "" {
		for said := range strings.SplitSeq(text, "\n") {
			line(out, "stderr     %q", said)
		}
	}
	if err != nil {
		line(out, "exit       %v", err)
		return err
	}
	line(out, "exit       0, %d bytes of output", len(result.Stdout.Reveal()))
	credential, err := execcredential.ParseAnswer(result.Stdout.Reveal(), version)
	if err != nil {
		line(out, "answer     %v", err)
		return err
	}
	describe(out, credential, time.Now())
	return nil
}

func stderrOf(result pluginexec.Result, err error) redact.Bytes {
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
	line(out, "answer     %v", credential)
	if certificate := credential.Certificate(); certificate != nil {
		leaf := certificate.Leaf
		line(out, "subject    %s, issued %s", leaf.Subject, leaf.NotBefore.Format(time.RFC3339))
		if now.After(leaf.NotAfter) {
			line(out, "warning    the certificate ended at %s; clients do not look at that, servers do", leaf.NotAfter.Format(time.RFC3339))
		}
	}
	switch expires := credential.Expires(); {
	case expires.IsZero():
		line(out, "client     keeps it until it ends, or until the server answers 401")
	case credential.ValidAt(now):
		line(out, "client     keeps it for %v, or until the server answers 401", expires.Sub(now).Round(time.Second))
	default:
		line(out, "client     uses it for a moment and asks again after a pause: it has expired already; is a clock wrong?")
	}
}
