package runtime_test

import (
	"bytes"
	"io"
	"slices"
	"strings"
	"testing"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protowire"
	"k8s.io/client-go/tools/remotecommand"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/lanyard-dev/lanyard/envprecedence"
	"github.com/lanyard-dev/lanyard/examples/runtime/runtimetest"
	"github.com/lanyard-dev/lanyard/examples/testimage"
	"github.com/lanyard-dev/lanyard/examples/testimage/report"
	"github.com/lanyard-dev/lanyard/execaudit"
	"github.com/lanyard-dev/lanyard/execaudit/criwire"
	"github.com/lanyard-dev/lanyard/execaudit/negotiate"
	"github.com/lanyard-dev/lanyard/execaudit/streaming"
)

// auditEnv is what a kubelet sends, with values that a shell would change.
var auditEnv = []envprecedence.Entry{
	envprecedence.NewEntry(execaudit.AuditIDName, "f4a3b2c1-0000-4000-8000-000000000001"),
	envprecedence.NewEntry("LEVEL", "caller"),
	envprecedence.NewEntry("LITERAL", "$LEVEL ${LEVEL} %LEVEL% `id` ~ a=b\nc"),
	envprecedence.NewEntry("EMPTY", ""),
	envprecedence.NewEntry("BYTES", "\xff\xfe"),
}

// startSleeper runs a container of an image with one static program and an environment of its own.
func startSleeper(t *testing.T, n *runtimetest.Node, change ...func(*runtimeapi.ContainerConfig)) *runtimetest.Container {
	t.Helper()
	ref := push(t, testimage.Spec{Config: v1.Config{Env: []string{"LEVEL=image", "KEPT=$LEVEL", "TERM=dumb"}}})
	n.Pull(t, ref)
	return n.RunPod(t).Start(t, ref, cmd("sleep"), change...)
}

var protocols = []runtimetest.Protocol{runtimetest.SPDY, runtimetest.WebSocket}

// TestExecEnvironment is the promise: what the kubelet sends is in the environment of a process in an image that has no
// shell and no env program; and where a runtime does not know the field, the session works without.
func TestExecEnvironment(t *testing.T) {
	both(t, func(t *testing.T, n node) {
		c := startSleeper(t, n.Node)
		for _, protocol := range protocols {
			for _, tty := range []bool{false, true} {
				name := string(protocol) + " plain"
				if tty {
					name = string(protocol) + " tty"
				}
				t.Run("EXA-17 EXA-19 "+name, func(t *testing.T) {
					s := n.exec(t, c, &runtimetest.Session{Cmd: cmd(), Env: auditEnv, TTY: tty, Protocol: protocol})
					r, err := report.Parse(s.Out.Bytes())
					if err != nil {
						t.Fatal(err)
					}
					if !n.envs {
						// The named difference: containerd 2.4.2 does not have the field, and ignores it.
						if _, ok := r.Get(execaudit.AuditIDName); ok {
							t.Error("the runtime injects envs: it should be listed as one that does")
						}
						return
					}
					checkEnv(t, r, auditEnv)
					if got, _ := r.Get("KEPT"); got != "$LEVEL" {
						t.Errorf("KEPT = %q, want the image's own, not expanded", got)
					}
				})
			}
		}
		t.Run("EXA-18 ExecSync carries no environment, not even as an unknown field", func(t *testing.T) {
			req := &runtimeapi.ExecSyncRequest{ContainerId: c.ID, Cmd: cmd()}
			for field := protowire.Number(4); field <= 8; field++ {
				entry := protowire.AppendString(protowire.AppendTag(nil, 1, protowire.BytesType), "LEVEL")
				entry = protowire.AppendString(protowire.AppendTag(entry, 2, protowire.BytesType), "sync")
				m := req.ProtoReflect()
				m.SetUnknown(protowire.AppendBytes(protowire.AppendTag(m.GetUnknown(), field, protowire.BytesType), entry))
			}
			resp, err := n.ExecSync(runtimetest.Context(t), req)
			if err != nil {
				t.Fatal(err)
			}
			r, err := report.Parse(resp.GetStdout())
			if err != nil {
				t.Fatal(err)
			}
			if got, _ := r.Get("LEVEL"); got != "image" {
				t.Errorf("LEVEL = %q, want the image's", got)
			}
		})
		t.Run("EXA-18 EXA-36 ExecSync is as it was: it takes a container's ID, and no packed one", func(t *testing.T) {
			packed, err := streaming.Pack(&runtimeapi.ExecRequest{ContainerId: c.ID})
			if err != nil {
				t.Fatal(err)
			}
			_, err = n.ExecSync(runtimetest.Context(t), &runtimeapi.ExecSyncRequest{ContainerId: packed.GetContainerId(), Cmd: cmd()})
			if err == nil {
				t.Error("ExecSync found a container")
			}
		})
		t.Run("EXA-18 a session's environment stays its own", func(t *testing.T) {
			reported(t, c, &runtimetest.Session{Cmd: cmd(), Env: auditEnv})
			r := reported(t, c, &runtimetest.Session{Cmd: cmd()})
			if got, _ := r.Get("LEVEL"); got != "image" {
				t.Errorf("LEVEL of the next session = %q, want the image's", got)
			}
		})
		t.Run("STK-2 a terminal gets TERM=xterm over the image's value, below the caller's", func(t *testing.T) {
			for _, tt := range []struct {
				env  []envprecedence.Entry
				tty  bool
				want string
			}{
				{nil, false, "dumb"},
				{nil, true, "xterm"},
				{[]envprecedence.Entry{envprecedence.NewEntry("TERM", "vt100")}, true, "vt100"},
			} {
				if tt.env != nil && !n.envs {
					continue
				}
				r := reported(t, c, &runtimetest.Session{Cmd: cmd(), TTY: tt.tty, Env: tt.env})
				if got, _ := r.Get("TERM"); got != tt.want {
					t.Errorf("TERM with tty %v and env %v = %q, want %q", tt.tty, tt.env, got, tt.want)
				}
			}
		})
	})
}

// checkEnv checks that each entry arrived, byte for byte, once, and that nothing stands before them.
func checkEnv(t *testing.T, r report.Report, want []envprecedence.Entry) {
	t.Helper()
	for i, w := range want {
		if r.Env[i].Name != w.Name || string(r.Env[i].Value) != w.Value.Reveal() {
			t.Errorf("entry %d is %q, want %q with its value", i, r.Env[i].Name, w.Name)
		}
		same := func(e report.Entry) bool { return e.Name == w.Name }
		if rest := r.Env[i+1:]; slices.ContainsFunc(rest, same) {
			t.Errorf("%q is there twice", w.Name)
		}
	}
}

// TestExecSession has what is equal in every exec session, of both runtimes.
func TestExecSession(t *testing.T) {
	both(t, func(t *testing.T, n node) {
		c := startSleeper(t, n.Node)
		for _, protocol := range protocols {
			t.Run("STK-2 streams and exit code over "+string(protocol), func(t *testing.T) {
				s := n.exec(t, c, &runtimetest.Session{Cmd: cmd("print", "out\n", "err\n"), Protocol: protocol})
				if s.Out.String() != "out\n" || s.Err.String() != "err\n" || s.Code != 0 {
					t.Errorf("got %q, %q, %d", s.Out.String(), s.Err.String(), s.Code)
				}
				if s := n.exec(t, c, &runtimetest.Session{Cmd: cmd("print", "x", "", "42"), Protocol: protocol}); s.Code != 42 {
					t.Errorf("exit code = %d, want 42", s.Code)
				}
			})
		}
		t.Run("STK-2 standard input ends where the client ends it", func(t *testing.T) {
			in := strings.Repeat("0123456789abcdef", 64<<10) // 1 MiB
			s := c.MustExec(t, &runtimetest.Session{Cmd: cmd("echo"), Stdin: strings.NewReader(in)})
			if s.Out.String() != in {
				t.Errorf("echo of %d bytes has %d", len(in), s.Out.Len())
			}
		})
		t.Run("STK-2 a terminal has the size of the client's window, also when that changes", func(t *testing.T) {
			sizes := make(queue, 2)
			sizes <- remotecommand.TerminalSize{Width: 101, Height: 31}
			out, in := io.Pipe()
			keep, end := io.Pipe()
			s := &runtimetest.Session{Cmd: cmd("size"), TTY: true, Stdin: keep, Stdout: in, Sizes: sizes}
			done := make(chan error, 1)
			go func() { done <- c.Exec(runtimetest.Context(t), s) }()
			awaitText(t, out, "31 101")
			sizes <- remotecommand.TerminalSize{Width: 80, Height: 24}
			awaitText(t, out, "24 80")
			// An interrupt, as the keyboard sends it.
			go io.Copy(io.Discard, out)
			if _, err := end.Write([]byte{3}); err != nil {
				t.Fatal(err)
			}
			if err := <-done; err != nil || s.Code != 130 && s.Code != 2 {
				t.Errorf("after an interrupt: %v, code %d", err, s.Code)
			}
			end.Close()
			in.Close()
			close(sizes)
		})
		t.Run("STK-2 a command that is not there is an error", func(t *testing.T) {
			err := c.Exec(runtimetest.Context(t), &runtimetest.Session{Cmd: []string{"/nowhere"}})
			if err == nil {
				t.Error("no error")
			}
		})
		t.Run("STK-2 ExecSync: output, exit code, time limit", func(t *testing.T) {
			resp, err := n.ExecSync(runtimetest.Context(t), &runtimeapi.ExecSyncRequest{ContainerId: c.ID, Cmd: cmd("print", "o", "e")})
			if err != nil || string(resp.GetStdout()) != "o" || string(resp.GetStderr()) != "e" {
				t.Errorf("ExecSync = %v, %v", resp, err)
			}
			resp, err = n.ExecSync(runtimetest.Context(t), &runtimeapi.ExecSyncRequest{ContainerId: c.ID, Cmd: cmd("exit", "9")})
			if err != nil || resp.GetExitCode() != 9 {
				t.Errorf("ExecSync = %v, %v, want exit code 9", resp, err)
			}
			_, err = n.ExecSync(runtimetest.Context(t), &runtimeapi.ExecSyncRequest{ContainerId: c.ID, Cmd: cmd("ignore"), Timeout: 1})
			if status.Code(err) != codes.DeadlineExceeded {
				t.Errorf("ExecSync = %v, want DeadlineExceeded", err)
			}
		})
		t.Run("STK-2 no exec where nothing runs", func(t *testing.T) {
			created := c.Pod.Create(t, c.Config.GetImage().GetImage(), cmd("sleep"))
			if err := created.Exec(runtimetest.Context(t), &runtimetest.Session{Cmd: cmd()}); err == nil {
				t.Error("exec in a container that was not started succeeded")
			}
			_, err := n.Exec(runtimetest.Context(t), &runtimeapi.ExecRequest{ContainerId: "nobody", Cmd: cmd(), Stdout: true})
			if status.Code(err) != codes.NotFound {
				t.Errorf("Exec = %v, want NotFound", err)
			}
		})
	})
}

type queue chan remotecommand.TerminalSize

func (q queue) Next() *remotecommand.TerminalSize {
	size, ok := <-q
	if !ok {
		return nil
	}
	return &size
}

// awaitText reads until the text came.
func awaitText(t *testing.T, r io.Reader, text string) {
	t.Helper()
	var got bytes.Buffer
	one := make([]byte, 1)
	for !strings.Contains(got.String(), text) {
		if _, err := r.Read(one); err != nil {
			t.Fatalf("read %q, then %v; want %q", got.String(), err, text)
		}
		got.Write(one)
	}
}

// TestOldRuntime is our runtime in the part of one without ExecRequest.envs.
func TestOldRuntime(t *testing.T) {
	config := newConfig(t)
	config.PlayOld = true
	n := serve(t, config)
	c := startSleeper(t, n.Node)
	for _, tty := range []bool{false, true} {
		t.Run("EXA-17 EXA-21 an old runtime ignores the field and the session works", func(t *testing.T) {
			r := reported(t, c, &runtimetest.Session{Cmd: cmd(), Env: auditEnv, TTY: tty})
			for _, e := range auditEnv {
				if got, ok := r.Get(e.Name); ok && (e.Name != "LEVEL" || got != "image") {
					t.Errorf("%s arrived", e.Name)
				}
			}
		})
	}
	t.Run("EXA-20 it does not report support, and a new one does", func(t *testing.T) {
		if supports(t, n.Node) {
			t.Error("old runtime reports support")
		}
		if !supports(t, serve(t, newConfig(t)).Node) {
			t.Error("new runtime reports none")
		}
	})
}

func supports(t *testing.T, n *runtimetest.Node) bool {
	t.Helper()
	resp, err := n.Status(runtimetest.Context(t), &runtimeapi.StatusRequest{})
	if err != nil {
		t.Fatal(err)
	}
	return negotiate.Supported(resp, "")
}

// TestExecRefused has environments that no process could be given.
func TestExecRefused(t *testing.T) {
	n := lanyard(t)
	c := startSleeper(t, n.Node)
	for name, env := range map[string][]envprecedence.Entry{
		"NUL byte":     {envprecedence.NewEntry("A", "secret\x00")},
		"empty name":   {envprecedence.NewEntry("", "secret")},
		"= in a name":  {envprecedence.NewEntry("A=B", "secret")},
		"128 KiB":      {envprecedence.NewEntry("A", "secret"+strings.Repeat("x", 128<<10))},
		"a bad second": {envprecedence.NewEntry("A", "1"), envprecedence.NewEntry("B", "secret\x00")},
	} {
		t.Run("ENV-11 EXA-19 refused with the call, without the value: "+name, func(t *testing.T) {
			err := c.Exec(runtimetest.Context(t), &runtimetest.Session{Cmd: cmd(), Env: env})
			if status.Code(err) != codes.InvalidArgument || strings.Contains(err.Error(), "secret") {
				t.Errorf("Exec = %v, want InvalidArgument without the value", err)
			}
		})
	}
	t.Run("EXA-17 a malformed field is refused", func(t *testing.T) {
		req := &runtimeapi.ExecRequest{ContainerId: c.ID, Cmd: cmd(), Stdout: true}
		req.ProtoReflect().SetUnknown([]byte("\x3a\x01\xff"))
		if _, err := n.Exec(runtimetest.Context(t), req); status.Code(err) != codes.InvalidArgument {
			t.Errorf("Exec = %v, want InvalidArgument", err)
		}
	})
	t.Run("EXA-17 the KEP's bytes on the wire arrive", func(t *testing.T) {
		// Field 7, entries A=1 and B=\xff\xfe, written by hand.
		req := &runtimeapi.ExecRequest{ContainerId: c.ID, Cmd: cmd(), Stdout: true, Stderr: true}
		req.ProtoReflect().SetUnknown([]byte("\x3a\x06\x0a\x01A\x12\x011" + "\x3a\x07\x0a\x01B\x12\x02\xff\xfe"))
		envs, err := criwire.Read(req)
		if err != nil {
			t.Fatal(err)
		}
		checkEnv(t, reported(t, c, &runtimetest.Session{Cmd: cmd(), Env: envs}), []envprecedence.Entry{envprecedence.NewEntry("A", "1"), envprecedence.NewEntry("B", "\xff\xfe")})
	})
}
