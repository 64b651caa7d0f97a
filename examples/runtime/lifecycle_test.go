package runtime_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/lanyard-dev/lanyard/examples/runtime/runtimetest"
	"github.com/lanyard-dev/lanyard/examples/testimage"
	"github.com/lanyard-dev/lanyard/examples/testimage/report"
)

func cmd(args ...string) []string { return append([]string{testimage.Program}, args...) }

// TestLifecycle runs against both runtimes, with equal expectations.
func TestLifecycle(t *testing.T) {
	both(t, func(t *testing.T, n node) {
		ref := push(t, testimage.Spec{Config: v1.Config{Entrypoint: cmd("exit"), Cmd: []string{"3"}, Env: []string{"FROM=image", "BOTH=image"}, WorkingDir: "/proc"}})
		n.Pull(t, ref)
		p := n.RunPod(t)

		t.Run("STK-2 created, running, exited, each with its time", func(t *testing.T) {
			c := p.Create(t, ref, cmd("term", "5"))
			if got := c.Status(t); got.GetState() != runtimeapi.ContainerState_CONTAINER_CREATED || got.GetStartedAt() != 0 {
				t.Fatalf("after create: %v", got)
			}
			if err := c.Start(t); err != nil {
				t.Fatal(err)
			}
			if got := c.Status(t); got.GetState() != runtimeapi.ContainerState_CONTAINER_RUNNING || got.GetStartedAt() < got.GetCreatedAt() {
				t.Fatalf("after start: %v", got)
			}
			waitForLog(t, c, "waiting")
			c.Stop(t, 30)
			got := c.Ended(t)
			if got.GetExitCode() != 5 || got.GetReason() != "Error" || got.GetFinishedAt() < got.GetStartedAt() {
				t.Fatalf("after stop: %v", got)
			}
		})
		t.Run("STK-2 the image's command runs when the pod names none", func(t *testing.T) {
			if got := p.Start(t, ref, nil).Ended(t); got.GetExitCode() != 3 {
				t.Errorf("exit code = %d, want 3", got.GetExitCode())
			}
			c := p.Start(t, ref, nil, func(c *runtimeapi.ContainerConfig) { c.Args = []string{"0"} })
			if got := c.Ended(t); got.GetExitCode() != 0 || got.GetReason() != "Completed" {
				t.Errorf("status = %v, want exit code 0", got)
			}
		})
		t.Run("STK-2 a process that ignores SIGTERM is killed after the grace period", func(t *testing.T) {
			c := p.Start(t, ref, cmd("ignore"))
			waitForLog(t, c, "ignoring")
			began := time.Now()
			c.Stop(t, 1)
			if took := time.Since(began); took < time.Second || took > 8*time.Second {
				t.Errorf("stop took %v, want a little over 1s", took)
			}
			if got := c.Ended(t); got.GetExitCode() != 137 {
				t.Errorf("exit code = %d, want 137", got.GetExitCode())
			}
		})
		t.Run("STK-2 a command that is not there fails the start and says so", func(t *testing.T) {
			c := p.Create(t, ref, []string{"/nowhere"})
			err := c.Start(t)
			if err == nil || !strings.Contains(err.Error(), "/nowhere") {
				t.Fatalf("StartContainer = %v, want an error that names the command", err)
			}
			if got := c.Ended(t); got.GetReason() != "StartError" || got.GetExitCode() != 128 {
				t.Errorf("status = %v, want StartError, 128", got)
			}
			if err := c.Start(t); err == nil {
				t.Error("second start succeeded")
			}
		})
		t.Run("STK-2 environment, working directory and command are the pod's over the image's", func(t *testing.T) {
			c := p.Start(t, ref, cmd(), func(c *runtimeapi.ContainerConfig) {
				c.Envs = []*runtimeapi.KeyValue{{Key: "BOTH", Value: []byte("pod")}, {Key: "POD", Value: []byte("$FROM")}}
			})
			r := logged(t, c)
			for name, want := range map[string]string{"FROM": "image", "BOTH": "pod", "POD": "$FROM"} {
				if got, _ := r.Get(name); got != want {
					t.Errorf("%s = %q, want %q", name, got, want)
				}
			}
			if r.Cwd != "/proc" {
				t.Errorf("working directory = %q, want the image's", r.Cwd)
			}
			c = p.Start(t, ref, cmd(), func(c *runtimeapi.ContainerConfig) { c.WorkingDir = "/dev" })
			if r := logged(t, c); r.Cwd != "/dev" {
				t.Errorf("working directory = %q, want the pod's", r.Cwd)
			}
		})
		t.Run("STK-2 logs are in CRI format, stream by stream", func(t *testing.T) {
			c := p.Start(t, ref, cmd("print", "one\ntwo", "three\n"))
			c.Ended(t)
			got := map[string]bool{}
			for _, l := range logLines(t, c) {
				if _, err := time.Parse(time.RFC3339Nano, l.time); err != nil {
					t.Error(err)
				}
				got[l.stream+" "+l.tag+" "+l.text] = true
			}
			for _, want := range []string{"stdout F one", "stdout P two", "stderr F three"} {
				if !got[want] && !(n.name == "containerd" && strings.Contains(want, "two")) {
					t.Errorf("log %v lacks %q", got, want)
				}
			}
		})
		t.Run("STK-2 a line longer than 16 KiB is logged in parts", func(t *testing.T) {
			long := strings.Repeat("0123456789abcdef", 3<<10) // 48 KiB
			c := p.Start(t, ref, cmd("print", long+"\nshort\n", ""))
			c.Ended(t)
			waitForLog(t, c, "short")
			var text strings.Builder
			for _, l := range logLines(t, c) {
				if len(l.text) > 16<<10 {
					t.Errorf("a log line has %d bytes", len(l.text))
				}
				if text.WriteString(l.text); l.tag == "F" {
					text.WriteString("\n")
				}
			}
			if text.String() != long+"\nshort\n" {
				t.Errorf("the parts have %d bytes, want %d", text.Len(), len(long)+7)
			}
		})
		t.Run("STK-2 read-only root, volumes, capabilities", func(t *testing.T) {
			shared := t.TempDir()
			file := filepath.Join(shared, "given")
			if err := os.WriteFile(file, []byte("hello"), 0o600); err != nil {
				t.Fatal(err)
			}
			c := p.Start(t, ref, cmd("sleep"), func(c *runtimeapi.ContainerConfig) {
				c.Linux.SecurityContext.ReadonlyRootfs = true
				c.Linux.SecurityContext.Capabilities = &runtimeapi.Capability{DropCapabilities: []string{"ALL"}, AddCapabilities: []string{"NET_ADMIN"}}
				c.Mounts = []*runtimeapi.Mount{
					{ContainerPath: "/rw", HostPath: shared}, {ContainerPath: "/ro", HostPath: shared, Readonly: true},
				}
			})
			for path, want := range map[string]int{"/x": 1, "/ro/x": 1, "/rw/x": 0} {
				if got := c.MustExec(t, &runtimetest.Session{Cmd: cmd("write", path, "x")}); got.Code != want {
					t.Errorf("write %s exits with %d, want %d; %s", path, got.Code, want, got.Err.String())
				}
			}
			if got := c.MustExec(t, &runtimetest.Session{Cmd: cmd("read", "/ro/given")}); got.Out.String() != "hello" {
				t.Errorf("volume holds %q", got.Out.String())
			}
			if r := reported(t, c, &runtimetest.Session{Cmd: cmd()}); r.CapEff != "0000000000001000" {
				t.Errorf("capabilities of an exec'd process = %s, want NET_ADMIN alone", r.CapEff)
			}
		})
		t.Run("STK-2 a removed container is gone, running or not, and removing it again is no error", func(t *testing.T) {
			c := p.Start(t, ref, cmd("sleep"))
			for range 2 {
				if _, err := c.RemoveContainer(runtimetest.Context(t), &runtimeapi.RemoveContainerRequest{ContainerId: c.ID}); err != nil {
					t.Fatal(err)
				}
			}
			_, err := c.ContainerStatus(runtimetest.Context(t), &runtimeapi.ContainerStatusRequest{ContainerId: c.ID})
			if status.Code(err) != codes.NotFound {
				t.Errorf("ContainerStatus = %v, want NotFound", err)
			}
		})
		t.Run("STK-2 lists filter by pod, state and label", func(t *testing.T) {
			c := p.Create(t, ref, cmd("sleep"), func(c *runtimeapi.ContainerConfig) { c.Labels = map[string]string{"a": "b"} })
			resp, err := n.ListContainers(runtimetest.Context(t), &runtimeapi.ListContainersRequest{Filter: &runtimeapi.ContainerFilter{
				PodSandboxId: p.ID, LabelSelector: map[string]string{"a": "b"},
				State: &runtimeapi.ContainerStateValue{State: runtimeapi.ContainerState_CONTAINER_CREATED},
			}})
			if err != nil || len(resp.GetContainers()) != 1 || resp.GetContainers()[0].GetId() != c.ID {
				t.Errorf("ListContainers = %v, %v, want the one", resp, err)
			}
			pods, err := n.ListPodSandbox(runtimetest.Context(t), &runtimeapi.ListPodSandboxRequest{Filter: &runtimeapi.PodSandboxFilter{Id: p.ID}})
			if err != nil || len(pods.GetItems()) != 1 || pods.GetItems()[0].GetState() != runtimeapi.PodSandboxState_SANDBOX_READY {
				t.Errorf("ListPodSandbox = %v, %v, want the one, ready", pods, err)
			}
		})
		t.Run("STK-2 a log that was rotated is opened anew", func(t *testing.T) {
			c := p.Start(t, ref, cmd("echo"), func(c *runtimeapi.ContainerConfig) { c.Stdin = true })
			if err := os.Rename(c.LogFile(), c.LogFile()+".1"); err != nil {
				t.Fatal(err)
			}
			if _, err := n.ReopenContainerLog(runtimetest.Context(t), &runtimeapi.ReopenContainerLogRequest{ContainerId: c.ID}); err != nil {
				t.Fatal(err)
			}
			if _, err := os.Stat(c.LogFile()); err != nil {
				t.Error(err)
			}
		})
	})
}

// line is one line of a CRI log.
type line struct{ time, stream, tag, text string }

func logLines(t testing.TB, c *runtimetest.Container) (out []line) {
	t.Helper()
	b, err := os.ReadFile(c.LogFile())
	if err != nil {
		t.Fatal(err)
	}
	for l := range strings.Lines(string(b)) {
		f := strings.SplitN(strings.TrimSuffix(l, "\n"), " ", 4)
		if len(f) != 4 {
			t.Fatalf("log line %q", l)
		}
		out = append(out, line{f[0], f[1], f[2], f[3]})
	}
	return out
}

func waitForLog(t testing.TB, c *runtimetest.Container, text string) {
	t.Helper()
	runtimetest.Eventually(t, "log says "+text, func() bool {
		for _, l := range logLines(t, c) {
			if l.text == text {
				return true
			}
		}
		return false
	})
}

// logged waits for the container's end and returns the report that it wrote.
func logged(t testing.TB, c *runtimetest.Container) report.Report {
	t.Helper()
	c.Ended(t)
	var text strings.Builder
	for _, l := range logLines(t, c) {
		text.WriteString(l.text)
	}
	r, err := report.Parse([]byte(text.String()))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// reported runs the session and returns the report that it wrote.
func reported(t testing.TB, c *runtimetest.Container, s *runtimetest.Session) report.Report {
	t.Helper()
	r, err := report.Parse(c.MustExec(t, s).Out.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	return r
}
