//go:build linux

package install

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"time"

	"github.com/lanyard-dev/lanyard/execaudit/bridge/oci"
)

// Mode is how the wrapper comes into the runtime's place.
type Mode string

// The modes.
const (
	ModeRuntimeClass Mode = "runtimeclass"
	ModeDropIn       Mode = "drop-in"
	ModeBind         Mode = "bind"
)

// Defaults.
const (
	DefaultMode    = ModeRuntimeClass
	DefaultHandler = "lanyard"
	DefaultPrefix  = "/opt/lanyard"
	DefaultState   = "/var/lib/lanyard"
	DefaultKeys    = "/etc/lanyard/bridge/keys"
	// DefaultSettle is longer than the node's daemon takes to tell the webhook, and a token on its way.
	DefaultSettle = 20 * time.Second
)

// runDirectory is where the wrapper looks for a configuration that is not beside it; see [oci.ConfigPaths].
const runDirectory = "/run/lanyard"

// ErrUsage: the options contradict each other.
var ErrUsage = errors.New("usage")

// Options say what to install and where. Paths are the host's.
type Options struct {
	// Mode is [DefaultMode] if empty.
	Mode Mode
	// Handlers are those to change: the default one if empty. Mode runtimeclass copies the first of them.
	Handlers []string
	// NewHandler is the name of the handler that mode runtimeclass adds; [DefaultHandler] if empty.
	NewHandler string
	// Prefix, State and Keys are as their defaults if empty.
	Prefix, State, Keys string
	// HostRoot is where the host's root is mounted. Mode bind uses MountNamespace 1 instead.
	HostRoot string
	// MountNamespace is a process whose mount namespace is acted in; 0 is the caller's own.
	MountNamespace int
	// Socket is the CRI socket; if empty, containerd's or CRI-O's, whichever is there.
	Socket string
	// Config is the runtime's main configuration file; if empty, the one it was started with, or its default.
	Config string
	// Real is the path of the real runtime where the configuration names none; if empty, runc or crun is looked for.
	Real string
	// Wrapper is the program to install, a file of the caller's; if empty, lanyard-oci beside the caller's own program.
	Wrapper string
	// Node is the node's name.
	Node string
	// What the wrapper is told; see [oci.Config].
	Mark               oci.Marking
	Failure            oci.Failing
	Skew               time.Duration
	UnmarkedNamespaces []string
	// Restart is a shell command that restarts the runtime; if empty, nothing is restarted.
	Restart string
	// Force goes on where a reason speaks against it.
	Force bool
	// Settle is how long uninstall waits between telling the node's daemon and acting, where a handler was active.
	Settle time.Duration
	// Now is time.Now if nil.
	Now func() time.Time
}

var handlerName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$`)

func (o Options) withDefaults() (Options, error) {
	for _, d := range []struct {
		to   *string
		from string
	}{{(*string)(&o.Mode), string(DefaultMode)}, {&o.NewHandler, DefaultHandler}, {&o.Prefix, DefaultPrefix}, {&o.State, DefaultState}, {&o.Keys, DefaultKeys}} {
		if *d.to == "" {
			*d.to = d.from
		}
	}
	if o.Mode == ModeBind && o.HostRoot != "" && o.MountNamespace == 0 {
		o.MountNamespace = 1
	}
	if o.MountNamespace != 0 {
		o.HostRoot = ""
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	for _, path := range []string{o.Prefix, o.State, o.Keys} {
		if !filepath.IsAbs(path) {
			return o, fmt.Errorf("%w: %q must be an absolute path", ErrUsage, path)
		}
	}
	switch o.Mode {
	case ModeRuntimeClass, ModeDropIn, ModeBind:
	default:
		return o, fmt.Errorf("%w: mode %q, must be runtimeclass, drop-in or bind", ErrUsage, o.Mode)
	}
	for _, name := range append([]string{o.NewHandler}, o.Handlers...) {
		if !handlerName.MatchString(name) {
			return o, fmt.Errorf("%w: handler %q", ErrUsage, name)
		}
	}
	return o, nil
}

// wrapper returns the content of the program to install.
func (o Options) wrapper() ([]byte, error) {
	path := o.Wrapper
	if path == "" {
		self, err := os.Executable()
		if err != nil {
			return nil, err
		}
		path = filepath.Join(filepath.Dir(self), "lanyard-oci")
	}
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("the wrapper: %w", err)
	}
	return content, nil
}
