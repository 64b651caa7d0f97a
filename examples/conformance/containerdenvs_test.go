package conformance_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protowire"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/lanyard-dev/lanyard/criconformance/suite"
	"github.com/lanyard-dev/lanyard/envprecedence"
	"github.com/lanyard-dev/lanyard/examples/containerdrig"
	"github.com/lanyard-dev/lanyard/examples/parts"
	"github.com/lanyard-dev/lanyard/examples/runtime/runtimetest"
	"github.com/lanyard-dev/lanyard/examples/testimage"
	"github.com/lanyard-dev/lanyard/examples/testimage/report"
	"github.com/lanyard-dev/lanyard/execaudit"
	"github.com/lanyard-dev/lanyard/execaudit/criwire"
	"github.com/lanyard-dev/lanyard/execaudit/negotiate"
	"github.com/lanyard-dev/lanyard/execaudit/streaming"
)

// withEnvs is containerd with our modules in its exec path, as peers/containerd builds it.
func withEnvs(t testing.TB) func(*containerdrig.Config) {
	t.Helper()
	program := parts.Need(t, "containerd-envs")[0]
	return func(c *containerdrig.Config) { c.Containerd = program }
}

// TestContainerdEnvs is the suite against containerd 2.4.2 with our modules.
func TestContainerdEnvs(t *testing.T) {
	endpoint := serveContainerd(t, withEnvs(t))
	code, out, said := tool(t, "--runtime-endpoint", endpoint, "--require", "envs", "--output", "json")
	var r suite.Report
	if err := json.Unmarshal([]byte(out), &r); err != nil {
		t.Fatalf("%v, stderr %s\n%s", err, said, out)
	}
	t.Run("EXA-37 CON-9 criconformance --require envs passes", func(t *testing.T) {
		if code != suite.ExitPassed || r.Summary() != "58 passed, 0 failed, 0 skipped, 4 unsupported, 0 errors" {
			t.Errorf("exit code %d, %s\n%s", code, r.Summary(), text(t, r))
		}
	})
	t.Run("EXA-37 CON-9 it reports the environment, and every case passes", func(t *testing.T) {
		for _, result := range append(of(r, "envs/"), of(r, "groups/")...) {
			if result.Outcome != suite.OutcomePass {
				t.Errorf("%s: %s\n%s", result.Case, result.Outcome, result.Explain(""))
			}
		}
		if !strings.Contains(text(t, r), "envs       reported, required, shown") {
			t.Errorf("the report reads\n%s", text(t, r))
		}
	})
	t.Run("CON-9 what a JSON process spec cannot carry is unsupported, not half shown", func(t *testing.T) {
		for _, result := range of(r, "envs-bytes/") {
			if result.Outcome != suite.OutcomeUnsupported {
				t.Errorf("%s: %s\n%s", result.Case, result.Outcome, result.Explain(""))
			}
		}
		if !strings.Contains(text(t, r), "envs-bytes not reported, not shown") {
			t.Errorf("the report reads\n%s", text(t, r))
		}
	})
	t.Run("CON-8 nothing stays", func(t *testing.T) { checkGone(t, endpoint) })
}

// sleeper runs a container that has an environment of its own.
func sleeper(t testing.TB, endpoint string) *runtimetest.Container {
	t.Helper()
	i, err := testimage.Build(testimage.Spec{
		Reporter: parts.Need(t, "lanyard-reporter")[0],
		Config:   v1.Config{Env: []string{"LEVEL=image", "KEPT=$LEVEL", "TERM=dumb", "TWICE=image"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	registry := testimage.NewRegistry()
	t.Cleanup(registry.Close)
	ref, err := registry.Push("test:v1", i)
	if err != nil {
		t.Fatal(err)
	}
	n := runtimetest.Dial(t, strings.TrimPrefix(endpoint, "unix://"))
	n.Pull(t, ref)
	return n.RunPod(t).Start(t, ref, say("sleep"), func(c *runtimeapi.ContainerConfig) {
		c.Envs = []*runtimeapi.KeyValue{{Key: "TWICE", Value: []byte("container")}}
	})
}

// say is the command of the program in the image.
func say(args ...string) []string { return append([]string{testimage.Program}, args...) }

// seen is the environment that a session's process reports, in its order.
func seen(t testing.TB, c *runtimetest.Container, tty bool, env ...string) []string {
	t.Helper()
	s := &runtimetest.Session{Cmd: say(), TTY: tty}
	for _, e := range env {
		name, value, _ := strings.Cut(e, "=")
		s.Env = append(s.Env, envprecedence.NewEntry(name, value))
	}
	return environOf(t, c.MustExec(t, s).Out.Bytes())
}

func environOf(t testing.TB, out []byte) (all []string) {
	t.Helper()
	r, err := report.Parse(out)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range r.Env {
		all = append(all, e.Name+"="+string(e.Value))
	}
	return all
}

// execSync is the environment that a process of ExecSync reports. The request carries one all the same, in every field
// that could be taken for it.
func execSync(t testing.TB, c *runtimetest.Container) []string {
	t.Helper()
	req := &runtimeapi.ExecSyncRequest{ContainerId: c.ID, Cmd: say()}
	for field := protowire.Number(4); field <= 8; field++ {
		entry := protowire.AppendString(protowire.AppendTag(nil, 1, protowire.BytesType), "LEVEL")
		entry = protowire.AppendString(protowire.AppendTag(entry, 2, protowire.BytesType), "sync")
		m := req.ProtoReflect()
		m.SetUnknown(protowire.AppendBytes(protowire.AppendTag(m.GetUnknown(), field, protowire.BytesType), entry))
	}
	resp, err := c.ExecSync(runtimetest.Context(t), req)
	if err != nil {
		t.Fatal(err)
	}
	return environOf(t, resp.GetStdout())
}

// TestContainerdEnvsSessions compares sessions of containerd with our modules with the KEP, and with stock containerd.
func TestContainerdEnvsSessions(t *testing.T) {
	stock, ours := sleeper(t, serveContainerd(t)), sleeper(t, serveContainerd(t, withEnvs(t)))
	for _, tty := range []bool{false, true} {
		t.Run(fmt.Sprintf("EXA-37 a session without an environment is as before, terminal %v", tty), func(t *testing.T) {
			checkSame(t, seen(t, ours, tty), seen(t, stock, tty))
		})
		t.Run(fmt.Sprintf("EXA-37 the request wins over the container, first and each name once, terminal %v", tty), func(t *testing.T) {
			sent := []string{execaudit.AuditIDName + "=f4a3", "LEVEL=caller", "NEW=$LEVEL", "EMPTY=", "TWICE=caller"}
			rest := slices.DeleteFunc(seen(t, stock, tty), func(e string) bool {
				return strings.HasPrefix(e, "LEVEL=") || strings.HasPrefix(e, "TWICE=")
			})
			checkSame(t, seen(t, ours, tty, sent...), slices.Concat(sent, rest))
		})
	}
	t.Run("EXA-37 a terminal's TERM=xterm is a default: over the image's, below the caller's", func(t *testing.T) {
		for _, tt := range []struct {
			tty  bool
			env  []string
			want string
		}{
			{false, nil, "TERM=dumb"},
			{false, []string{"OTHER=1"}, "TERM=dumb"},
			{true, nil, "TERM=xterm"},
			{true, []string{"OTHER=1"}, "TERM=xterm"},
			{true, []string{"TERM=vt100"}, "TERM=vt100"},
		} {
			got := slices.DeleteFunc(seen(t, ours, tt.tty, tt.env...), func(e string) bool { return !strings.HasPrefix(e, "TERM=") })
			checkSame(t, got, []string{tt.want})
		}
	})
	t.Run("EXA-37 EXA-18 ExecSync is as before", func(t *testing.T) { checkSame(t, execSync(t, ours), execSync(t, stock)) })
	t.Run("EXA-37 the beginning of a container's ID is enough, as before", func(t *testing.T) {
		short := *ours
		short.ID = ours.ID[:12]
		if got := seen(t, &short, false, "LEVEL=caller"); got[0] != "LEVEL=caller" {
			t.Errorf("the environment begins with %q", got[0])
		}
	})
	t.Run("EXA-37 it says that it does, and stock containerd does not", func(t *testing.T) {
		for c, want := range map[*runtimetest.Container]bool{ours: true, stock: false} {
			resp, err := c.Node.Status(runtimetest.Context(t), &runtimeapi.StatusRequest{})
			if err != nil || negotiate.Supported(resp, "") != want {
				t.Errorf("Supported = %v, %v; want %v", negotiate.Supported(resp, ""), err, want)
			}
		}
	})
}

func checkSame(t testing.TB, got, want []string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("the environment is\n%q, want\n%q", got, want)
	}
}

// secret is a value that nothing but the process may see.
const secret = "s3cr3t-of-the-caller"

// TestContainerdEnvsRefuses has what cannot be carried, and what was made up. Everything that containerd says about it
// goes to its log.
func TestContainerdEnvsRefuses(t *testing.T) {
	var dir string
	endpoint := serveContainerd(t, withEnvs(t), func(c *containerdrig.Config) {
		dir = c.Dir
		c.Containerd = talkative(t, c.Containerd)
	})
	c := sleeper(t, endpoint)
	refused := func(t *testing.T, req *runtimeapi.ExecRequest, want codes.Code) string {
		t.Helper()
		resp, err := c.Node.Exec(runtimetest.Context(t), req)
		if status.Code(err) != want || resp.GetUrl() != "" {
			t.Errorf("Exec = %q, %v; want %v", resp.GetUrl(), err, want)
		}
		if strings.Contains(fmt.Sprint(err), secret) {
			t.Errorf("the error has the value: %v", err)
		}
		return fmt.Sprint(err)
	}
	t.Run("EXA-37 a value that is not UTF-8 is refused by the name of its entry", func(t *testing.T) {
		req := request(t, c.ID, envprecedence.NewEntry("FIRST", "1"), envprecedence.NewEntry("BYTES", secret+"\xff"))
		if said := refused(t, req, codes.InvalidArgument); !strings.Contains(said, "BYTES") || !strings.Contains(said, "UTF-8") {
			t.Errorf("the error is %q, want one of BYTES and UTF-8", said)
		}
	})
	t.Run("EXA-37 what no process could be given is refused", func(t *testing.T) {
		req := request(t, c.ID, envprecedence.NewEntry("NUL", secret+"\x00"))
		if said := refused(t, req, codes.InvalidArgument); !strings.Contains(said, "NUL") {
			t.Errorf("the error is %q", said)
		}
	})
	t.Run("EXA-37 a field that is not an environment is refused", func(t *testing.T) {
		req := request(t, c.ID)
		req.ProtoReflect().SetUnknown(protowire.AppendString(protowire.AppendTag(nil, 7, protowire.BytesType), "\x0a\x7f"+secret))
		refused(t, req, codes.InvalidArgument)
	})
	t.Run("EXA-37 nothing of the hand-over is in a log, at any level", func(t *testing.T) {
		if got := seen(t, c, false, "HIDDEN_NAME="+secret); !slices.Contains(got, "HIDDEN_NAME="+secret) {
			t.Fatalf("the environment is %q", got)
		}
		log, err := os.ReadFile(filepath.Join(dir, "containerd.log"))
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(log), "Exec for") {
			t.Error("the log says nothing of exec")
		}
		for _, hidden := range []string{secret, "HIDDEN_NAME", "exec-env"} {
			if strings.Contains(string(log), hidden) {
				t.Errorf("the log has %q", hidden)
			}
		}
	})
	t.Run("EXA-37 a container ID that was packed elsewhere is refused", func(t *testing.T) {
		forged, err := streaming.Pack(request(t, c.ID, envprecedence.NewEntry(execaudit.AuditIDName, secret)))
		if err != nil {
			t.Fatal(err)
		}
		refused(t, forged, codes.NotFound)
	})
}

func request(t testing.TB, id string, env ...envprecedence.Entry) *runtimeapi.ExecRequest {
	t.Helper()
	req := &runtimeapi.ExecRequest{ContainerId: id, Cmd: say(), Stdout: true}
	if err := criwire.Write(req, env); err != nil {
		t.Fatal(err)
	}
	return req
}

// talkative is the same containerd at its most talkative: the last of several levels counts.
func talkative(t testing.TB, containerd string) string {
	t.Helper()
	path := filepath.Join(newDir(t), "containerd")
	if err := os.WriteFile(path, fmt.Appendf(nil, "#!/bin/sh\nexec %s \"$@\" --log-level trace\n", containerd), 0o700); err != nil {
		t.Fatal(err)
	}
	return path
}
