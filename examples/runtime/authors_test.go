package runtime_test

import (
	"context"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	specs "github.com/opencontainers/runtime-spec/specs-go"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	clientcommand "k8s.io/client-go/tools/remotecommand"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
	criapi "k8s.io/cri-streaming/pkg/streaming"
	"k8s.io/cri-streaming/pkg/streaming/remotecommand"

	"github.com/lanyard-dev/lanyard/envprecedence"
	"github.com/lanyard-dev/lanyard/examples/runtime/runtimetest"
	"github.com/lanyard-dev/lanyard/examples/testimage/report"
	"github.com/lanyard-dev/lanyard/execaudit"
	"github.com/lanyard-dev/lanyard/execaudit/criwire"
	"github.com/lanyard-dev/lanyard/execaudit/negotiate"
	"github.com/lanyard-dev/lanyard/execaudit/streaming"
)

// Here stands the code of docs/runtime-authors.md: a runtime that is stock but for it, with CRI-O's way of starting a
// process. TestAuthors runs it.

// 1: the gRPC method Exec.
func (s *service) Exec(_ context.Context, req *runtimeapi.ExecRequest) (*runtimeapi.ExecResponse, error) {
	packed, err := streaming.PackJSON(req)
	if err != nil {
		return nil, err // gRPC answers InvalidArgument
	}
	return s.streams.GetExec(packed)
}

// 2: the streaming backend takes it out again.
func (b backend) Exec(_ context.Context, packed string, cmd []string, in io.Reader, out, errs io.WriteCloser, tty bool, _ <-chan remotecommand.TerminalSize) error {
	containerID, environ, err := streaming.Unpack(packed)
	if err != nil {
		return err
	}
	process, err := execProcess(b.container(containerID), cmd, environ, tty)
	if err != nil {
		return err
	}
	return b.start(containerID, process, in, out, errs) // whatever the context
}

// 2, down to the process: ExecSync calls it with a nil environ.
func execProcess(container specs.Process, cmd, environ []string, tty bool) (specs.Process, error) {
	process := container
	process.Args, process.Terminal = cmd, tty
	if tty {
		process.Env = append(slices.Clone(process.Env), "TERM=xterm") // a default: a caller's TERM replaces it
	}
	if len(environ) == 0 {
		return process, nil // as it was
	}
	baseline, _ := envprecedence.Prepare(process.Env, envprecedence.PlatformLinux)
	var err error
	process.Env, err = baseline.Merge(nil, environ) // nil: nothing is forced by the runtime
	return process, err
}

// 3: the gRPC method Status.
func (s *service) Status(context.Context, *runtimeapi.StatusRequest) (*runtimeapi.StatusResponse, error) {
	resp := s.status()
	negotiate.Announce(resp, func(handler string) bool { return !s.monitorStreams[handler] })
	return resp, nil
}

// CRI-O: a runtime handler whose monitor serves the streams.
func (s *service) execByMonitor(req *runtimeapi.ExecRequest) (*runtimeapi.ExecResponse, error) {
	environ, err := criwire.Environ(req)
	if err != nil {
		return nil, err
	}
	if len(environ) > 0 && !s.announces {
		return nil, status.Error(codes.Unimplemented, "the monitor of this runtime handler takes no environment for an exec")
	}
	return s.monitorExec(req)
}

// service is a runtime's CRI server.
type service struct {
	streams        criapi.Server
	monitorStreams map[string]bool // the runtime handlers whose monitor serves the streams
	announces      bool            // Status has place 3
}

func (s *service) status() *runtimeapi.StatusResponse {
	return &runtimeapi.StatusResponse{RuntimeHandlers: []*runtimeapi.RuntimeHandler{{Name: ""}, {Name: "runc"}, {Name: "pod"}}}
}

func (s *service) monitorExec(*runtimeapi.ExecRequest) (*runtimeapi.ExecResponse, error) {
	return &runtimeapi.ExecResponse{Url: "http://127.0.0.1:1/of-the-monitor"}, nil
}

// backend starts processes as CRI-O's StreamService does: runc exec --process FILE ID, in the foreground.
type backend struct {
	criapi.Runtime
	runc, root, dir string
	asked           func(file string) // looks at each process file before runc does
}

// container returns the container's own process, from its bundle.
func (b backend) container(id string) specs.Process {
	var state struct{ Bundle string }
	out, err := exec.Command(b.runc, "--root", b.root, "state", id).Output()
	if err == nil {
		err = json.Unmarshal(out, &state)
	}
	text, readErr := os.ReadFile(filepath.Join(state.Bundle, "config.json"))
	var spec specs.Spec
	if err != nil || readErr != nil || json.Unmarshal(text, &spec) != nil || spec.Process == nil {
		return specs.Process{}
	}
	return *spec.Process
}

// processFile is what CRI-O's prepareProcessExec writes.
func (b backend) processFile(process specs.Process) (string, error) {
	text, err := json.Marshal(process)
	if err != nil {
		return "", err
	}
	f, err := os.CreateTemp(b.dir, "exec-process-")
	if err != nil {
		return "", err
	}
	_, err = f.Write(text)
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	return f.Name(), err
}

func (b backend) start(id string, process specs.Process, in io.Reader, out, errs io.Writer) error {
	file, err := b.processFile(process)
	if err != nil {
		return err
	}
	defer os.Remove(file)
	if b.asked != nil {
		b.asked(file)
	}
	cmd := exec.Command(b.runc, "--root", b.root, "exec", "--process", file, id)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = in, out, errs
	return cmd.Run()
}

// newBackend is a backend over a container that runs.
func newBackend(t *testing.T) (backend, *runtimetest.Container) {
	t.Helper()
	n := serve(t, newConfig(t))
	c := startSleeper(t, n.Node)
	return backend{runc: n.config.Runc, root: filepath.Join(n.config.Root, "runc"), dir: t.TempDir()}, c
}

// merged is the environment of an exec of the container with auditEnv.
func merged(t *testing.T, b backend, c *runtimetest.Container) []string {
	t.Helper()
	environ, err := envprecedence.Environ(jsonEnv(), 0)
	if err != nil {
		t.Fatal(err)
	}
	process, err := execProcess(b.container(c.ID), cmd(), environ, false)
	if err != nil {
		t.Fatal(err)
	}
	return process.Env
}

// jsonEnv is auditEnv without the values that JSON does not carry.
func jsonEnv() []envprecedence.Entry {
	return slices.DeleteFunc(slices.Clone(auditEnv), func(e envprecedence.Entry) bool {
		return strings.ToValidUTF8(e.Value.Reveal(), "") != e.Value.Reveal()
	})
}

func TestAuthors(t *testing.T) {
	b, c := newBackend(t)
	request := func(t *testing.T, env []envprecedence.Entry) *runtimeapi.ExecRequest {
		t.Helper()
		req := &runtimeapi.ExecRequest{ContainerId: c.ID, Cmd: cmd(), Stdout: true}
		if err := criwire.Write(req, env); err != nil {
			t.Fatal(err)
		}
		return req
	}
	s := &service{streams: startStock(t, b), monitorStreams: map[string]bool{"pod": true}, announces: true}
	session := func(t *testing.T, env []envprecedence.Entry) report.Report {
		t.Helper()
		resp, err := s.Exec(t.Context(), request(t, env))
		if err != nil {
			t.Fatal(err)
		}
		client, err := runtimetest.Executor(runtimetest.SPDY, resp.GetUrl())
		if err != nil {
			t.Fatal(err)
		}
		var out strings.Builder
		if err := client.StreamWithContext(runtimetest.Context(t), clientcommand.StreamOptions{Stdout: &out}); err != nil {
			t.Fatal(err)
		}
		r, err := report.Parse([]byte(out.String()))
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	t.Run("EXA-36 the page's code over the stock server: the process has the environment", func(t *testing.T) {
		checkEnv(t, session(t, jsonEnv()), jsonEnv())
	})
	t.Run("EXA-36 a session without one has the container's, as ExecSync", func(t *testing.T) {
		process, err := execProcess(b.container(c.ID), cmd(), nil, false)
		if want := b.container(c.ID).Env; err != nil || !slices.Equal(process.Env, want) || len(want) == 0 {
			t.Errorf("the process has %q, %v, want %q", process.Env, err, want)
		}
		if _, found := session(t, nil).Get(execaudit.AuditIDName); found {
			t.Error("an audit ID from elsewhere")
		}
	})
	t.Run("EXA-36 with a terminal TERM=xterm is a default", func(t *testing.T) {
		for _, c := range []struct{ environ, want []string }{
			{nil, []string{"TERM=vt52", "TERM=xterm"}},
			{[]string{"A=1"}, []string{"A=1", "TERM=xterm"}},
			{[]string{"TERM=dumb"}, []string{"TERM=dumb"}},
		} {
			process, err := execProcess(specs.Process{Env: []string{"TERM=vt52"}}, cmd(), c.environ, true)
			if err != nil || !slices.Equal(process.Env, c.want) {
				t.Errorf("%q makes %q, %v, want %q", c.environ, process.Env, err, c.want)
			}
		}
	})
	t.Run("EXA-36 what JSON does not carry is refused with the call", func(t *testing.T) {
		_, err := s.Exec(t.Context(), request(t, []envprecedence.Entry{envprecedence.NewEntry("A", "hunter2\xff")}))
		if status.Code(err) != codes.InvalidArgument || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("Exec = %v, want InvalidArgument", err)
		}
	})
	t.Run("EXA-36 support is told for each runtime handler", func(t *testing.T) {
		resp, err := s.Status(t.Context(), &runtimeapi.StatusRequest{})
		if err != nil {
			t.Fatal(err)
		}
		for handler, want := range map[string]bool{"": true, "runc": true, "pod": false} {
			if got := negotiate.Supported(resp, handler); got != want {
				t.Errorf("Supported(%q) = %t, want %t", handler, got, want)
			}
		}
	})
	t.Run("EXA-36 a monitor that serves the streams never loses an environment silently", func(t *testing.T) {
		for _, c := range []struct {
			announces bool
			env       []envprecedence.Entry
			want      codes.Code
		}{
			{true, jsonEnv(), codes.OK},
			{true, nil, codes.OK},
			{false, nil, codes.OK},
			{false, jsonEnv(), codes.Unimplemented},
			{true, []envprecedence.Entry{envprecedence.NewEntry("", "x")}, codes.InvalidArgument},
		} {
			s := &service{announces: c.announces}
			if _, err := s.execByMonitor(request(t, c.env)); status.Code(err) != c.want {
				t.Errorf("announced %t, %v: %v, want %v", c.announces, c.env, err, c.want)
			}
		}
	})
}

// TestConmon runs an exec's process file through conmon, as CRI-O's ExecSync does.
func TestConmon(t *testing.T) {
	conmon, err := exec.LookPath("conmon")
	if err != nil {
		t.Skip("conmon is not installed (Debian's package conmon)")
	}
	b, c := newBackend(t)
	run := func(t *testing.T, process specs.Process) report.Report {
		t.Helper()
		file, err := b.processFile(process)
		if err != nil {
			t.Fatal(err)
		}
		dir := t.TempDir()
		log := filepath.Join(dir, "log")
		out, err := exec.Command(conmon, "--sync", "--exec", "--cid", c.ID, "--cuuid", c.ID, "--name", "exec", "--runtime", b.runc, "--runtime-arg", "--root="+b.root,
			"--exec-process-spec", file, "--bundle", dir, "--container-pidfile", filepath.Join(dir, "pid"), "--log-path", log, "--socket-dir-path", dir).CombinedOutput()
		if err != nil {
			t.Fatalf("conmon: %v: %s", err, out)
		}
		text, err := os.ReadFile(log)
		if err != nil {
			t.Fatal(err)
		}
		var stdout strings.Builder
		for line := range strings.Lines(string(text)) { // TIME stdout F TEXT
			if fields := strings.SplitN(line, " ", 4); len(fields) == 4 && fields[1] == "stdout" {
				if fields[2] == "P" {
					fields[3] = strings.TrimSuffix(fields[3], "\n")
				}
				stdout.WriteString(fields[3])
			}
		}
		r, err := report.Parse([]byte(stdout.String()))
		if err != nil {
			t.Fatalf("%v: %s", err, text)
		}
		return r
	}
	t.Run("EXA-36 the merged environment comes through conmon and runc as it is", func(t *testing.T) {
		process := b.container(c.ID)
		process.Args, process.Env = cmd(), merged(t, b, c)
		checkEnv(t, run(t, process), jsonEnv())
	})
	t.Run("EXA-36 other bytes than UTF-8 do not come through JSON, and nobody says so", func(t *testing.T) {
		process := b.container(c.ID)
		process.Args, process.Env = cmd(), []string{"BYTES=\xff"}
		if got, _ := run(t, process).Get("BYTES"); got != "\ufffd" {
			t.Errorf("BYTES = %q, want what encoding/json makes of it", got)
		}
	})
	t.Run("EXA-36 a process of ExecSync has the container's environment", func(t *testing.T) {
		process, err := execProcess(b.container(c.ID), cmd(), nil, false)
		if err != nil {
			t.Fatal(err)
		}
		if _, found := run(t, process).Get(execaudit.AuditIDName); found {
			t.Error("an audit ID from elsewhere")
		}
	})
}

// TestAuthorsPage compares the page's code with this file's.
func TestAuthorsPage(t *testing.T) {
	page, err := os.ReadFile("../../docs/runtime-authors.md")
	if err != nil {
		t.Fatal(err)
	}
	own, err := os.ReadFile("authors_test.go")
	if err != nil {
		t.Fatal(err)
	}
	before, rest, _ := strings.Cut(string(page), "<!-- generated: containerd -->\n")
	_, after, _ := strings.Cut(rest, "<!-- /generated -->\n")
	blocks := 0
	for i, block := range strings.Split(before+after, "```go\n") {
		code, _, found := strings.Cut(block, "```")
		if i == 0 || !found {
			continue
		}
		blocks++
		t.Run("EXA-36 the page's code is the one that is tested", func(t *testing.T) {
			if !strings.Contains(string(own), code) {
				t.Errorf("authors_test.go has no\n%s", code)
			}
		})
	}
	if blocks < 4 {
		t.Errorf("%d blocks of code on the page, want the three places and CRI-O's", blocks)
	}
}
