package main_test

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/lanyard-dev/lanyard/examples/parts"
	"github.com/lanyard-dev/lanyard/examples/runtime/runtimetest"
)

// needed are the programs that the story is made of; the first is the one command.
var needed = []string{
	"lanyard-stack", "lanyard-apiserver", "lanyard-kubelet", "lanyard-runtime", "lanyard-monitor", "lanyard-reporter",
	"lanyard-login-plugin", "lanyard-pull-plugin", "kubectl", "kubectl-exec_env", "runc", "containerd", "containerd-shim-runc-v2", "ctr",
}

// command is the stack's, in a temporary directory and a working directory of its own.
func command(t *testing.T, verb string) (cmd *exec.Cmd, temporary string) {
	t.Helper()
	program := parts.Need(t, needed...)[0]
	// A short path, because those of sockets may have 108 bytes only.
	temporary, err := os.MkdirTemp("", "lanyard-one-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(temporary); err != nil {
			t.Error(err)
		}
	})
	cmd = exec.CommandContext(t.Context(), program, verb)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) } // also a test that fails leaves nothing
	cmd.Dir = t.TempDir()
	cmd.Env = append(os.Environ(), "TMPDIR="+temporary, parts.Variable+"="+filepath.Dir(program))
	cmd.Stderr = os.Stderr
	return cmd, temporary
}

// TestDemo is `make demo`.
func TestDemo(t *testing.T) {
	cmd, dir := command(t, "demo")
	t.Run("STK-1 one command tells who ran what, and leaves nothing", func(t *testing.T) {
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		for _, want := range []string{
			"ok  the audit event with the ID in alice's process names alice",
			"ok  the audit event with the ID in bob's process names bob",
			"both that claim Alice's ID are told to be spoofed: the kernel's mark says otherwise",
			"All of it held, and nothing is left running.",
		} {
			if !strings.Contains(string(out), want) {
				t.Errorf("the demo does not say %q\n%s", want, out)
			}
		}
		checkGone(t, dir, nil)
	})
}

// TestUp is `make stack`.
func TestUp(t *testing.T) {
	cmd, dir := command(t, "up")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var told strings.Builder
	for lines := bufio.NewScanner(out); !strings.Contains(told.String(), "Interrupt to stop."); {
		if !lines.Scan() {
			t.Fatalf("it ended by itself: %v\n%s", cmd.Wait(), told.String())
		}
		told.WriteString(lines.Text() + "\n")
	}
	ids := inRuntimes(t, dir)
	t.Run("STK-1 all three listen on loopback alone", func(t *testing.T) {
		listening := listeners(t, dir)
		for _, name := range []string{"lanyard-apiserver", "lanyard-kubelet", "lanyard-runtime"} {
			if len(listening[name]) == 0 {
				t.Errorf("%s listens nowhere", name)
			}
		}
		for name, addresses := range listening {
			for _, a := range addresses {
				if !a.IsLoopback() {
					t.Errorf("%s listens on %v", name, a)
				}
			}
		}
	})
	t.Run("STK-1 an interrupt stops them, and nothing is left", func(t *testing.T) {
		if err := cmd.Process.Signal(os.Interrupt); err != nil {
			t.Fatal(err)
		}
		if err := cmd.Wait(); err != nil {
			t.Errorf("it ended with %v", err)
		}
		checkGone(t, dir, ids)
	})
}

// inRuntimes are the IDs of every sandbox and container that the nodes' runtimes have.
func inRuntimes(t *testing.T, dir string) (ids []string) {
	t.Helper()
	sockets, err := filepath.Glob(filepath.Join(dir, "*", "*", "runtime.sock"))
	if err != nil || len(sockets) == 0 {
		t.Fatalf("no socket of a runtime below %s: %v", dir, err)
	}
	for _, socket := range sockets {
		n := runtimetest.Dial(t, socket)
		pods, err := n.ListPodSandbox(runtimetest.Context(t), &runtimeapi.ListPodSandboxRequest{})
		if err != nil {
			t.Fatal(err)
		}
		containers, err := n.ListContainers(runtimetest.Context(t), &runtimeapi.ListContainersRequest{})
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range pods.GetItems() {
			ids = append(ids, p.GetId())
		}
		for _, c := range containers.GetContainers() {
			ids = append(ids, c.GetId())
		}
	}
	if len(cgroups(t, ids)) == 0 {
		t.Fatal("no container has a cgroup, so that one left would not be seen")
	}
	return ids
}
