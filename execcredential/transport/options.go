package transport

import (
	"io"
	"os"
	"time"

	"github.com/lanyard-dev/lanyard/execcredential"
	"github.com/lanyard-dev/lanyard/pluginexec"
)

const (
	// DefaultTimeout is the time limit of a plugin that is not interactive.
	DefaultTimeout = time.Minute
	// DefaultMaxOutput is the largest answer.
	DefaultMaxOutput = pluginexec.DefaultMaxStdout
	// DefaultMaxSources is how many configurations a pool remembers.
	DefaultMaxSources = 256
)

// Options are the settings of a [Pool]. The zero value runs every plugin, without standard input, for at most a minute.
type Options struct {
	// Policy says which plugins may run. The zero value lets all run.
	Policy execcredential.Policy
	// Backoff is how long a failing plugin is left alone.
	Backoff Backoff
	// Timeout is the time limit of a run that is not interactive; zero is DefaultTimeout. It goes on
	// until then, whether or not anybody waits. An interactive run is bounded by the contexts of those who wait for it.
	Timeout time.Duration
	// MaxOutput is the largest answer in bytes; zero is DefaultMaxOutput.
	MaxOutput int64
	// MaxSources is how many configurations are remembered; zero is DefaultMaxSources.
	MaxSources int
	// Terminal is lent to interactive plugins. If nil, there is none.
	Terminal *Terminal
	// Stderr receives what plugins write to standard error, such as a prompt; it must not block. If nil, it is
	// discarded.
	Stderr io.Writer
	// Proactive refreshes a credential in the last 1% of its lifetime, before a request needs it, used or not. It never
	// does so interactively.
	Proactive bool
	// Repeat sends a request again, once, when the server answers 401 and its body can be read again, so that the
	// caller does not see the first 401.
	Repeat bool
	// Metrics are the recorders.
	Metrics Metrics
	// Environ returns the host's environment; nil is os.Environ.
	Environ func() []string
	// Now is the clock; nil is time.Now.
	Now func() time.Time
}

func (o *Options) environ() []string {
	if o.Environ != nil {
		return o.Environ()
	}
	return os.Environ()
}

func (o *Options) now() time.Time {
	if o.Now != nil {
		return o.Now()
	}
	return time.Now()
}

func (o *Options) timeout() time.Duration {
	if o.Timeout > 0 {
		return o.Timeout
	}
	return DefaultTimeout
}

func (o *Options) maxSources() int {
	if o.MaxSources > 0 {
		return o.MaxSources
	}
	return DefaultMaxSources
}
