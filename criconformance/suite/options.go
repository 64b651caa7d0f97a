package suite

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"time"
)

// Options selects the runtime and the cases. Only Endpoint is required.
type Options struct {
	// Endpoint is the runtime's, such as unix:///run/containerd/containerd.sock; ImageEndpoint is the image service's,
	// and empty if it is the same.
	Endpoint, ImageEndpoint string
	// Handler is the runtime handler of the pods, such as runsc; empty is the runtime's default.
	Handler string

	// Focus selects cases by name, and Skip excludes some of them; nil selects all, and excludes none.
	Focus, Skip *regexp.Regexp
	// Require names features that the runtime must have, whatever it reports.
	Require []Feature

	// Reporter is the path of a static Linux program that calls reporter.Main; empty is the running program.
	Reporter string
	// Push is a repository to which the images are pushed and from which the runtime pulls them, such as
	// registry.example/conformance, for runtimes that cannot pull from this process on localhost. They are not removed.
	Push string
	// Images is a repository whose images the runtime already has or can pull, made by WriteArchive or Push; no image
	// is made or removed.
	Images string

	// Parallel is how many cases run at a time; 0 is DefaultParallel.
	Parallel int
	// Timeout bounds one case, and each step before and after the cases; 0 is DefaultTimeout.
	Timeout time.Duration
	// Progress is called after each case with its name, one call at a time; if nil, it is not called.
	Progress func(done, total int, name string)
}

// The defaults of Options.
const (
	DefaultParallel = 4
	DefaultTimeout  = time.Minute
)

// ErrOptions means options that cannot be run: no endpoint, an unknown feature, no case selected, both Push and Images,
// a negative number, a reporter that cannot be used.
var ErrOptions = errors.New("options")

// ErrNothingTried means that every case was skipped: the run says nothing about the runtime, and is not a success.
var ErrNothingTried = errors.New("no case was tried")

func (o Options) withDefaults() (Options, error) {
	if o.Endpoint == "" {
		return o, fmt.Errorf("%w: no endpoint", ErrOptions)
	}
	for _, f := range o.Require {
		if !slices.Contains(Features(), f) {
			return o, fmt.Errorf("%w: unknown feature %q, want one of %q", ErrOptions, f, Features())
		}
	}
	if o.Push != "" && o.Images != "" {
		return o, fmt.Errorf("%w: both Push and Images", ErrOptions)
	}
	if o.Parallel < 0 || o.Timeout < 0 {
		return o, fmt.Errorf("%w: Parallel %d and Timeout %v, want neither negative", ErrOptions, o.Parallel, o.Timeout)
	}
	if !slices.ContainsFunc(Cases(), o.selects) {
		return o, fmt.Errorf("%w: no case selected", ErrOptions)
	}
	if o.Parallel == 0 {
		o.Parallel = DefaultParallel
	}
	if o.Timeout == 0 {
		o.Timeout = DefaultTimeout
	}
	return o, nil
}

func (o Options) selects(c Case) bool {
	return (o.Focus == nil || o.Focus.MatchString(c.Name)) && (o.Skip == nil || !o.Skip.MatchString(c.Name))
}
