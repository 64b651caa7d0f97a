package suite

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"time"
)

// Options says what to try on whom. Only Endpoint is needed.
type Options struct {
	// Endpoint is the runtime's, such as unix:///run/containerd/containerd.sock; ImageEndpoint is the image service's, and
	// empty where it is the same.
	Endpoint, ImageEndpoint string
	// Handler is the runtime handler of the pods, such as runsc; empty is the runtime's default.
	Handler string

	// Focus selects cases by name, and Skip takes some of them out; nil selects all, and takes out none.
	Focus, Skip *regexp.Regexp
	// Require are features without which the runtime fails, whatever it reports.
	Require []Feature

	// Reporter is the path of a static Linux program that is the reporter, see package reporter; empty is the running one.
	Reporter string
	// Push is a repository to which the images are pushed and from which the runtime pulls them, such as
	// registry.example/conformance, for runtimes that cannot pull from this process on localhost. They stay there.
	Push string
	// Images is a repository whose images the runtime has already or can pull, as WriteArchive or Push left them; no image
	// is made or removed.
	Images string

	// Parallel is how many cases run at a time; 0 is 4.
	Parallel int
	// Timeout bounds one case, and one step of what is done before and after all; 0 is one minute.
	Timeout time.Duration
	// Progress is told of each case that has run, by name, one call at a time; nil is nobody.
	Progress func(done, total int, name string)
}

const (
	defaultParallel = 4
	defaultTimeout  = time.Minute
)

// ErrOptions says that there is nothing to do as asked: no endpoint, an unknown feature, no case selected, a negative
// number.
var ErrOptions = errors.New("options")

// ErrNothingTried says that every case was skipped: the run says nothing about the runtime, and is not to pass for one that
// found nothing wrong.
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
		o.Parallel = defaultParallel
	}
	if o.Timeout == 0 {
		o.Timeout = defaultTimeout
	}
	return o, nil
}

func (o Options) selects(c Case) bool {
	return (o.Focus == nil || o.Focus.MatchString(c.Name)) && (o.Skip == nil || !o.Skip.MatchString(c.Name))
}
