package transport

import (
	"context"
	"os"
	"strings"

	"github.com/lanyard-dev/lanyard/execcredential"
	"github.com/lanyard-dev/lanyard/internal/flight"
	"github.com/lanyard-dev/lanyard/pluginexec"
)

// run runs the plugin once: contract with standard input, then policy, then the process, then its answer. The
// first two keep it from running and are not calls for the metric.
func (s *shared) run(ctx *flight.Run, mode execcredential.InteractiveMode) (*execcredential.Credential, error) {
	options := &s.pool.options
	stdin, done, err := s.stdin(ctx, mode)
	if err != nil {
		return nil, err
	}
	defer done()
	if stdin == nil {
		ctx.Detach()
	}
	path, err := s.resolve()
	for _, policy := range []execcredential.Policy{options.Policy, s.config.Policy} {
		if denied := policy.Check(s.config.Command, path, pluginexec.Lookup); denied != nil {
			return nil, denied
		}
	}
	if err != nil {
		options.Metrics.called(err)
		return nil, err
	}
	info, err := s.info[stdin != nil]()
	if err != nil {
		return nil, err
	}
	command := pluginexec.Command{
		Path:      path,
		Args:      s.config.Args,
		Env:       execcredential.Environ(options.environ(), s.config, info),
		Terminal:  stdin,
		Stderr:    options.Stderr,
		MaxStdout: options.MaxOutput,
	}
	if stdin == nil {
		command.Timeout = options.timeout()
	}
	credential, err := answer(ctx, command, s.config.APIVersion)
	options.Metrics.called(err)
	return credential, err
}

// stdin lends the terminal to the plugin, unless the configuration says that it is unavailable.
func (s *shared) stdin(ctx context.Context, mode execcredential.InteractiveMode) (file *os.File, done func(), err error) {
	if !s.config.StdinUnavailable {
		return s.pool.options.Terminal.lend(ctx, mode)
	}
	if mode == execcredential.InteractiveAlways {
		err = &InteractiveError{Mode: mode, By: s.config.StdinUnavailableMessage, Err: ErrClaimed}
	}
	return nil, func() {}, err
}

// resolve returns the file to run. A path needs no look at it unless a policy wants one: starting it says as much.
func (s *shared) resolve() (string, error) {
	if strings.ContainsRune(s.config.Command, os.PathSeparator) && allowsAll(s.pool.options.Policy) && allowsAll(s.config.Policy) {
		return s.config.Command, nil
	}
	return pluginexec.Lookup(s.config.Command)
}

func allowsAll(policy execcredential.Policy) bool {
	return policy.Type == "" || policy.Type == execcredential.PolicyAllowAll
}

func answer(ctx context.Context, command pluginexec.Command, version string) (*execcredential.Credential, error) {
	result, err := pluginexec.Run(ctx, command)
	if err != nil {
		return nil, err
	}
	return execcredential.ParseAnswer(result.Stdout.Reveal(), version)
}
