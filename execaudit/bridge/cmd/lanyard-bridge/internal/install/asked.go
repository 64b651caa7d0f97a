//go:build linux

package install

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/pelletier/go-toml/v2"
	"golang.org/x/sys/unix"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// Runtimes by the name that they answer with.
const (
	kindContainerd = "containerd"
	kindCRIO       = "cri-o"
)

// sockets are where the runtimes are asked.
var sockets = []string{"/run/containerd/containerd.sock", "/run/crio/crio.sock", "/var/run/crio/crio.sock"}

// Limits of an answer.
const (
	maxAnswer  = 16 << 20 // 16 MiB
	askTimeout = 30 * time.Second
)

// ErrNoAnswer: the runtime does not answer at its CRI socket.
var ErrNoAnswer = errors.New("the runtime does not answer")

// asked is a running runtime and what it answered.
type asked struct {
	client  runtimeapi.RuntimeServiceClient
	conn    *grpc.ClientConn
	socket  string
	kind    string
	version string
	// defaultHandler and handlers are of the configuration that it runs with.
	defaultHandler string
	handlers       map[string]askedHandler
	// text is CRI-O's running configuration.
	text []byte
	pid  int // 0 if it is in a PID namespace beside ours
}

type askedHandler struct{ kind, binary string }

func (a *asked) close() { _ = a.conn.Close() }

func (a *asked) major() int {
	if strings.HasPrefix(strings.TrimPrefix(a.version, "v"), "1.") {
		return 1
	}
	return 2
}

// socketOf returns the socket that is there.
func (h host) socketOf(socket string) string {
	if socket != "" {
		return strings.TrimPrefix(socket, "unix://")
	}
	found := sockets[0]
	_ = h.do(func() error {
		for _, s := range sockets {
			if _, err := os.Stat(h.path(s)); err == nil {
				found = s
				return nil
			}
		}
		return nil
	})
	return found
}

// dial connects to a socket of the host's, from whatever goroutine.
func (h host) dial(ctx context.Context, socket string) (conn net.Conn, err error) {
	err = h.do(func() error {
		conn, err = (&net.Dialer{}).DialContext(ctx, "unix", h.path(socket))
		return err
	})
	return conn, err
}

// ask asks the runtime at the socket what it runs with; one that was restarted a moment ago is waited for. Its error is
// [ErrNoAnswer]; close the answer when done.
func (h host) ask(ctx context.Context, socket string, restarted bool) (*asked, error) {
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	a := &asked{socket: socket, handlers: map[string]askedHandler{}}
	var err error
	a.conn, err = grpc.NewClient("passthrough:///"+socket, grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(maxAnswer), grpc.WaitForReady(restarted)),
		grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) { return h.dial(ctx, socket) }))
	if err != nil {
		return nil, err
	}
	a.client = runtimeapi.NewRuntimeServiceClient(a.conn)
	if err := h.fill(ctx, a); err != nil {
		a.close()
		return nil, fmt.Errorf("%w at %s: %w", ErrNoAnswer, socket, err)
	}
	return a, nil
}

func (h host) fill(ctx context.Context, a *asked) error {
	version, err := a.client.Version(ctx, &runtimeapi.VersionRequest{})
	if err != nil {
		return err
	}
	a.kind, a.version = strings.ToLower(version.RuntimeName), version.RuntimeVersion
	a.pid = h.peer(ctx, a.socket)
	switch a.kind {
	case kindContainerd:
		return a.askContainerd(ctx)
	case kindCRIO:
		return h.askCRIO(ctx, a)
	}
	return fmt.Errorf("runtime %q is neither containerd nor CRI-O", version.RuntimeName)
}

func (a *asked) askContainerd(ctx context.Context) error {
	status, err := a.client.Status(ctx, &runtimeapi.StatusRequest{Verbose: true})
	if err != nil {
		return err
	}
	var config struct {
		Containerd struct {
			DefaultRuntimeName string `json:"defaultRuntimeName"`
			Runtimes           map[string]struct {
				RuntimeType string         `json:"runtimeType"`
				Options     map[string]any `json:"options"`
			} `json:"runtimes"`
		} `json:"containerd"`
	}
	if err := json.Unmarshal([]byte(status.Info["config"]), &config); err != nil {
		return fmt.Errorf("its status has no configuration: %w", err)
	}
	a.defaultHandler = config.Containerd.DefaultRuntimeName
	for name, r := range config.Containerd.Runtimes {
		binary, _ := r.Options["BinaryName"].(string)
		a.handlers[name] = askedHandler{r.RuntimeType, binary}
	}
	return nil
}

// askCRIO asks CRI-O at its own page: its CRI status has no runtimes.
func (h host) askCRIO(ctx context.Context, a *asked) error {
	client := http.Client{Transport: &http.Transport{
		DisableKeepAlives: true,
		DialContext:       func(ctx context.Context, _, _ string) (net.Conn, error) { return h.dial(ctx, a.socket) },
	}}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://crio/config", nil)
	if err != nil {
		return err
	}
	answer, err := client.Do(request)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if a.text, err = io.ReadAll(io.LimitReader(answer.Body, maxAnswer)); err != nil || answer.StatusCode != http.StatusOK {
		return fmt.Errorf("its configuration: %s: %w", answer.Status, err)
	}
	var config struct {
		Crio struct {
			Runtime struct {
				DefaultRuntime string `toml:"default_runtime"`
				Runtimes       map[string]struct {
					Type string `toml:"runtime_type"`
					Path string `toml:"runtime_path"`
				} `toml:"runtimes"`
			} `toml:"runtime"`
		} `toml:"crio"`
	}
	if err := toml.Unmarshal(a.text, &config); err != nil {
		return errors.New("its configuration is not TOML")
	}
	a.defaultHandler = config.Crio.Runtime.DefaultRuntime
	for name, r := range config.Crio.Runtime.Runtimes {
		a.handlers[name] = askedHandler{r.Type, r.Path}
	}
	return nil
}

// peer returns the process at the socket's other end, or 0.
func (h host) peer(ctx context.Context, socket string) (pid int) {
	conn, err := h.dial(ctx, socket)
	if err != nil {
		return 0
	}
	defer conn.Close()
	raw, err := conn.(*net.UnixConn).SyscallConn()
	if err != nil {
		return 0
	}
	_ = raw.Control(func(fd uintptr) {
		if who, err := unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED); err == nil {
			pid = int(who.Pid)
		}
	})
	return pid
}
