package plugin

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/lanyard-dev/lanyard/credprovider"
	"github.com/lanyard-dev/lanyard/pluginexec"
	"github.com/lanyard-dev/lanyard/redact"
)

const (
	// DefaultTimeout is the time limit of a run, as upstream fixes it.
	DefaultTimeout = time.Minute
	// DefaultMaxOutput is the largest answer that is read.
	DefaultMaxOutput = 1 << 20 // 1 MiB
)

// Options are the bounds of a plugin's runs. The zero value is safe.
type Options struct {
	// Timeout is the time limit of a run; zero is DefaultTimeout.
	Timeout time.Duration
	// MaxOutput is the largest answer in bytes; zero is DefaultMaxOutput.
	MaxOutput int64
	// Env is the environment that the configured entries are added to, one NAME=VALUE each; nil is that of this
	// process.
	Env []redact.Text
	// Stderr receives what plugins write to standard error while they run, unchanged: it may contain secrets. If nil,
	// it is discarded.
	Stderr io.Writer
}

// Plugin is one executable and how it is run. It is immutable, and safe for concurrent use.
type Plugin struct {
	config  credprovider.Provider
	path    string
	env     []redact.Text
	options Options
}

// Find returns the plugin of a provider: the executable with the provider's name in binDir (with PATHEXT on Windows).
// One binary may be there under several names.
//
// The error is an *[Error] of kind ErrMissing or ErrNotExecutable. Source: KEP-4412, Credential Provider Configuration.
func Find(config credprovider.Provider, binDir string, options Options) (*Plugin, error) {
	path, err := pluginexec.Lookup(filepath.Join(binDir, config.Name))
	if err != nil {
		kind := ErrMissing
		if errors.Is(err, pluginexec.ErrNotExecutable) {
			kind = ErrNotExecutable
		}
		return nil, &Error{Provider: config.Name, Kind: kind, ExitCode: -1, Err: err}
	}
	if options.Timeout <= 0 {
		options.Timeout = DefaultTimeout
	}
	if options.MaxOutput <= 0 {
		options.MaxOutput = DefaultMaxOutput
	}
	env := slices.Clone(options.Env)
	if env == nil {
		env = redact.Texts(os.Environ()...)
	}
	for _, e := range config.Env {
		env = append(env, redact.New(e.Name+"="+e.Value.Reveal()))
	}
	return &Plugin{config: config, path: path, env: env, options: options}, nil
}

// FindAll returns the plugins of all providers in their order. When some are missing the error joins an *[Error] for
// each, and there are no plugins. A binDir that is not a directory is an error of its own.
func FindAll(providers []credprovider.Provider, binDir string, options Options) ([]*Plugin, error) {
	if info, err := os.Stat(binDir); err != nil {
		return nil, fmt.Errorf("plugin directory: %w", err)
	} else if !info.IsDir() {
		return nil, fmt.Errorf("plugin directory: %q is not a directory", binDir)
	}
	plugins := make([]*Plugin, len(providers))
	var faults []error
	for i, config := range providers {
		p, err := Find(config, binDir, options)
		plugins[i], faults = p, append(faults, err)
	}
	if err := errors.Join(faults...); err != nil {
		return nil, err
	}
	return plugins, nil
}

// Name returns the provider's name.
func (p *Plugin) Name() string { return p.config.Name }

// Path returns the path of the executable.
func (p *Plugin) Path() string { return p.path }

// String returns the name and the path, and nothing of the environment.
func (p *Plugin) String() string { return fmt.Sprintf("plugin %q at %q", p.config.Name, p.path) }

// Run starts the executable, hands it the request on standard input, and returns its answer. The request's version must
// be the provider's. The process group is killed at the time limit, when ctx ends, and when the answer is too large; a
// grandchild that keeps the output open does not hold the run.
//
// Every error is an *[Error]; see its kinds. The answer is put to [Check].
//
// Source: KEP-2133 and KEP-4412; Kubernetes 1.36, ExecPlugin.
func (p *Plugin) Run(ctx context.Context, request credprovider.Request) (credprovider.Response, error) {
	if request.APIVersion != p.config.APIVersion {
		return credprovider.Response{}, p.fail(request, ErrVersion, fmt.Errorf("the request is in %q, the provider speaks %q", request.APIVersion, p.config.APIVersion))
	}
	input, err := credprovider.EncodeRequest(request)
	if err != nil {
		return credprovider.Response{}, p.fail(request, ErrVersion, err)
	}
	result, err := pluginexec.Run(ctx, pluginexec.Command{
		Path: p.path, Args: p.config.Args, Env: p.env, Stdin: redact.NewBytes(input), Stderr: p.options.Stderr,
		Timeout: p.options.Timeout, MaxStdout: p.options.MaxOutput,
	})
	if err != nil {
		return credprovider.Response{}, p.runError(request, err)
	}
	response, err := credprovider.DecodeResponse(result.Stdout.Reveal(), p.config.APIVersion)
	if err != nil {
		return credprovider.Response{}, p.decodeError(request, result.Stderr, err)
	}
	if err := Check(p.config, request, response, p.options.MaxOutput); err != nil {
		return credprovider.Response{}, err
	}
	return response, nil
}
