package runtime

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"

	specs "github.com/opencontainers/runtime-spec/specs-go"
	"google.golang.org/grpc"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/lanyard-dev/lanyard/examples/runtime/image"
)

// Config says where the runtime lives and what it runs.
type Config struct {
	Root    string // state directory; required, made with mode 0700
	Socket  string // unix socket of the CRI server; required
	Runc    string // path of the low-level runtime; required
	Monitor string // path of lanyard-monitor; required

	// Node names this machine in the exec journal; empty is the host's name.
	Node string
	// Journal is the exec journal's path; empty is exec-journal.jsonl in Root.
	Journal string
	// JournalKeys is the file to which the verification key of the exec journal's seals is added, a line, when the
	// first start makes it; take it off the host then. Empty is a journal without seals.
	JournalKeys string
	// JournalMaxBytes is from which size on a file of the exec journal is rotated; 0 is 64 MiB. All files are kept,
	// for the sessions that are open in them.
	JournalMaxBytes int64
	// Limits bound what an image layer may unpack to.
	Limits image.Limits
	// PlayOld makes it a runtime without ExecRequest.envs: it does not report the feature and ignores the field.
	PlayOld bool
	// OldHandler is a runtime handler, beside the default one, whose containers get no ExecRequest.envs; empty is none.
	OldHandler string
	// Logger gets what no caller hears, never an environment value; nil is silence.
	Logger *slog.Logger

	Seams
}

// Seams are where tests put something broken, to see that a conformance suite notices. All may be nil.
type Seams struct {
	// Environ makes the environment of an exec'd process from the container's and the request's, both NAME=VALUE; nil
	// is envprecedence's order.
	Environ func(container, request []string, tty bool) ([]string, error)
	// Identify says as whom a container runs, from its root file system, its image's user and what the pod asks for;
	// nil is supgroups.
	Identify func(rootfs, imageUser string, sc *runtimeapi.LinuxContainerSecurityContext) (specs.User, error)
	// ExecProcess changes the process of an exec session before it is started.
	ExecProcess func(*specs.Process)
	// Interceptor stands before every call, inside of the one that gives errors their codes.
	Interceptor grpc.UnaryServerInterceptor
}

func (c Config) withDefaults() (Config, error) {
	for name, path := range map[string]string{"Root": c.Root, "Socket": c.Socket, "Runc": c.Runc, "Monitor": c.Monitor} {
		if path == "" {
			return c, fmt.Errorf("runtime config: %s is required", name)
		}
	}
	var errs []error
	for _, p := range []*string{&c.Root, &c.Socket, &c.Runc, &c.Monitor} {
		// The monitor runs in another directory.
		abs, err := filepath.Abs(*p)
		errs = append(errs, err)
		*p = abs
	}
	for _, program := range []string{c.Runc, c.Monitor} {
		if _, err := os.Stat(program); err != nil {
			errs = append(errs, err)
		}
	}
	if c.Node == "" {
		host, err := os.Hostname()
		errs = append(errs, err)
		c.Node = host
	}
	if c.Journal == "" {
		c.Journal = filepath.Join(c.Root, "exec-journal.jsonl")
	}
	if c.JournalMaxBytes == 0 {
		c.JournalMaxBytes = 64 << 20
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	if c.Identify == nil {
		c.Identify = identify
	}
	return c, errors.Join(errs...)
}
