package run_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/lanyard-dev/lanyard/execaudit/agent/cmd/execaudit-agent/internal/board"
	"github.com/lanyard-dev/lanyard/execaudit/journal"
)

const patience = time.Minute

// program is the agent as it is installed.
var program = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "agent-")
	if err != nil {
		return "", err
	}
	name := filepath.Join(dir, "execaudit-agent")
	build := exec.Command("go", "build", "-buildvcs=false", "-o", name, "github.com/lanyard-dev/lanyard/execaudit/agent/cmd/execaudit-agent")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w: %s", err, out)
	}
	return name, nil
})

func TestMain(m *testing.M) {
	code := m.Run()
	if name, err := program(); err == nil {
		_ = os.RemoveAll(filepath.Dir(name))
	}
	os.Exit(code)
}

// node is a place for an agent: a directory, and a login UID that nobody else has.
type node struct {
	dir, pins string
	uid       uint32
}

var uids uint32

func newNode(t *testing.T) *node {
	t.Helper()
	uids++
	n := &node{dir: t.TempDir(), uid: 1_200_000_000 + uint32(os.Getpid())*16 + uids}
	n.pins = filepath.Join(n.dir, "bpf")
	if err := os.Mkdir(n.pins, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := unix.Mount("bpf", n.pins, "bpf", 0, ""); err != nil {
		t.Skip("no BPF file system:", err)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(n.pins, 0); err != nil {
			t.Error(err)
		}
	})
	return n
}

func (n *node) path(name string) string { return filepath.Join(n.dir, name) }

func (n *node) args(command string, more ...string) []string {
	socket := "--socket=" + n.path("agent.sock")
	if command != "run" {
		return append([]string{command, socket}, more...)
	}
	return append([]string{
		command, socket, "--node-name=n1", "--journal=" + n.path("sessions.jsonl"), "--spool=" + n.path("spool"), "--output=" + n.path("events.jsonl"),
		"--pin-dir=" + filepath.Join(n.pins, "agent"), "--metrics-listen=", "--hold=100ms",
		fmt.Sprintf("--min-login-uid=%d", n.uid), fmt.Sprintf("--max-login-uid=%d", n.uid),
	}, more...)
}

// call runs a command to its end.
func (n *node) call(t *testing.T, command string, more ...string) (out string, code int) {
	t.Helper()
	name, err := program()
	if err != nil {
		t.Fatal(err)
	}
	var stdout bytes.Buffer
	c := exec.Command(name, n.args(command, more...)...)
	c.Stdout = &stdout
	err = c.Run()
	if exited := new(exec.ExitError); err != nil && !errors.As(err, &exited) {
		t.Fatal(err)
	}
	return stdout.String(), c.ProcessState.ExitCode()
}

// agent is one that runs.
type agent struct {
	cmd  *exec.Cmd
	errs *bytes.Buffer
}

// start starts the agent, and returns when it watches.
func (n *node) start(t *testing.T, more ...string) *agent {
	t.Helper()
	name, err := program()
	if err != nil {
		t.Fatal(err)
	}
	a := &agent{cmd: exec.Command(name, n.args("run", more...)...), errs: &bytes.Buffer{}}
	errs, err := a.cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := a.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(errs)
	for lines.Scan() {
		a.errs.WriteString(lines.Text() + "\n")
		if strings.Contains(lines.Text(), "msg=watching") {
			go func() { _, _ = io.Copy(io.Discard, errs) }()
			t.Cleanup(func() {
				if a.cmd.ProcessState == nil {
					a.end(t, syscall.SIGKILL)
				}
			})
			return a
		}
	}
	_ = a.cmd.Wait()
	if text := a.errs.String(); strings.Contains(text, "operation not permitted") || strings.Contains(text, "no answer from the kernel") {
		t.Skip("the kernel cannot be read here:", text)
	}
	t.Fatal(a.errs.String())
	return nil
}

func (a *agent) end(t *testing.T, s syscall.Signal) int {
	t.Helper()
	if err := a.cmd.Process.Signal(s); err != nil {
		t.Fatal(err)
	}
	_ = a.cmd.Wait()
	return a.cmd.ProcessState.ExitCode()
}

// session runs a shell that marks itself, in mounts of its own as in a container, to its end, whatever that is, and
// returns its mark.
func (n *node) session(t *testing.T, script string) uint32 {
	t.Helper()
	cmd := exec.Command("unshare", "-m", "sh", "-c", fmt.Sprintf("echo %d >/proc/self/loginuid && cat /proc/self/sessionid && echo && "+
		"unshare -m sh -c '%s'", n.uid, script))
	out, err := cmd.CombinedOutput()
	first, _, _ := strings.Cut(string(out), "\n")
	id, parsed := strconv.ParseUint(strings.TrimSpace(first), 10, 32)
	if parsed != nil {
		t.Skipf("a process cannot mark itself here: %v: %s", err, out)
	}
	return uint32(id)
}

// lines are those that the agent wrote, without one that has no end yet.
func (n *node) lines(t *testing.T) (out []map[string]any) {
	t.Helper()
	text, err := os.ReadFile(n.path("events.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if !strings.HasSuffix(line, "\n") {
			break
		}
		var m map[string]any
		if err := json.Unmarshal([]byte(line), &m); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		out = append(out, m)
	}
	return out
}

// ran are the files of the programs of the session that were seen to be executed, in the order of the lines. One that
// marked itself while the agent looked for what was there already has a line, too.
func (n *node) ran(t *testing.T, session uint32) (out []string) {
	t.Helper()
	for _, line := range n.lines(t) {
		if line["event"] == "exec" && line["origin"] != "walk" && line["sessionID"] == float64(session) {
			out = append(out, filepath.Base(fmt.Sprint(line["file"])))
		}
	}
	return out
}

func (n *node) notices(t *testing.T) (out []string) {
	t.Helper()
	for _, line := range n.lines(t) {
		if kind, is := line["notice"].(string); is {
			out = append(out, kind)
		}
	}
	return out
}

// until waits for a condition.
func until(t *testing.T, what string, met func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !met(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("no %s", what)
		}
	}
}

// capabilities are those of all threads of a process, each once, as /proc tells them.
func capabilities(t *testing.T, pid int) []string {
	t.Helper()
	files, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/status", pid))
	if err != nil || len(files) < 3 {
		t.Fatalf("%d threads: %v", len(files), err)
	}
	var out []string
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			continue // a thread that ended
		}
		for line := range strings.Lines(string(text)) {
			name, value, _ := strings.Cut(strings.TrimSpace(line), ":\t")
			if name == "CapPrm" || name == "CapEff" || name == "CapInh" || name == "CapAmb" || name == "NoNewPrivs" {
				out = append(out, name+" "+value)
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func TestAgent(t *testing.T) {
	none := []string{"CapAmb 0000000000000000", "CapEff 0000000000000000", "CapInh 0000000000000000", "CapPrm 0000000000000000", "NoNewPrivs 1"}
	for mode, want := range map[string][]string{
		"ebpf": none,
		// CAP_SYS_PTRACE and CAP_DAC_READ_SEARCH.
		"connector": {"CapAmb 0000000000000000", "CapEff 0000000000080004", "CapInh 0000000000000000", "CapPrm 0000000000080004", "NoNewPrivs 1"},
	} {
		t.Run("AGT-7 what it has when it watches, by /proc/PID/status: "+mode, func(t *testing.T) {
			n := newNode(t)
			a := n.start(t, "--mode="+mode)
			if got := capabilities(t, a.cmd.Process.Pid); !slices.Equal(got, want) {
				t.Errorf("%q, want %q", got, want)
			}
			id := n.session(t, "true; ls /nonexistent")
			until(t, "forgery", func() bool {
				if mode == "connector" {
					n.session(t, "ls /nonexistent") // the first may have been gone before it was read
				}
				return slices.Contains(n.notices(t), "forged")
			})
			if code := a.end(t, syscall.SIGTERM); code != 0 {
				t.Errorf("exit code %d, want 0", code)
			}
			if mode == "ebpf" { // the connector may be too late
				if got := n.ran(t, id); !slices.Equal(got, []string{"cat", "unshare", "sh", "ls"}) {
					t.Errorf("session %d ran %q", id, got)
				}
			}
			if got := n.notices(t); got[0] != "start" || got[len(got)-1] != "stop" {
				t.Errorf("notices %q", got)
			}
		})
	}
	t.Run("AGT-2 killed, its successor goes on where it was", func(t *testing.T) {
		n := newNode(t)
		a := n.start(t, "--mode=ebpf")
		first := n.session(t, "ls /nonexistent")
		until(t, "line of the first session's end", func() bool { return len(n.ran(t, first)) == 4 })
		a.end(t, syscall.SIGKILL)
		second := n.session(t, "ls /nonexistent")
		a = n.start(t, "--mode=ebpf")
		until(t, "lines of the second session", func() bool { return len(n.ran(t, second)) == 4 })
		if code := a.end(t, syscall.SIGTERM); code != 0 {
			t.Errorf("exit code %d, want 0", code)
		}
		if got := n.notices(t); slices.Contains(got, "lost") {
			t.Errorf("notices %q", got)
		}
		if left, err := os.ReadDir(filepath.Join(n.pins, "agent")); err != nil || len(left) == 0 {
			t.Errorf("nothing is pinned: %v", err)
		}
		if code := n.start(t, "--mode=ebpf", "--pin=false").end(t, syscall.SIGTERM); code != 0 {
			t.Errorf("exit code %d, want 0", code)
		}
		if left, err := os.ReadDir(filepath.Join(n.pins, "agent")); err == nil && len(left) > 0 {
			t.Errorf("--pin=false left %v", left)
		}
	})
	t.Run("AGT-7 without a BPF file system it goes on, unpinned", func(t *testing.T) {
		n := newNode(t)
		a := n.start(t, "--mode=ebpf", "--pin-dir="+n.path("pins"))
		if !strings.Contains(a.errs.String(), "no BPF file system") || !strings.Contains(a.errs.String(), "pinned=false") {
			t.Errorf("it said %s", a.errs)
		}
		a.end(t, syscall.SIGTERM)
		if _, err := os.Stat(n.path("pins")); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("it made the directory: %v", err)
		}
	})
}

func TestAsked(t *testing.T) {
	n := newNode(t)
	journaled, err := journal.Open(n.path("sessions.jsonl"), journal.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = journaled.Close() })
	a := n.start(t, "--mode=ebpf", "--metrics-listen=127.0.0.1:0")
	_ = a
	t.Run("AGT-6 status is well, and says so by its exit code", func(t *testing.T) {
		out, code := n.call(t, "status")
		if code != 0 || !strings.Contains(out, "sees by       ebpf, pinned") || !strings.Contains(out, "well          yes") {
			t.Errorf("exit code %d:\n%s", code, out)
		}
		out, code = n.call(t, "status", "--json")
		var s board.Status
		if err := json.Unmarshal([]byte(out), &s); err != nil || code != 0 || s.Node != "n1" || len(s.Capabilities) != 0 || s.Version == "" || s.BootID == "" {
			t.Errorf("exit code %d, %v:\n%s", code, err, out)
		}
	})
	t.Run("AGT-7 a second agent ends, and the first one goes on", func(t *testing.T) {
		name, err := program()
		if err != nil {
			t.Fatal(err)
		}
		for _, more := range [][]string{nil, {"--socket="}} {
			out, err := exec.Command(name, n.args("run", append(more, "--mode=ebpf")...)...).CombinedOutput()
			if err == nil || !strings.Contains(string(out), "another") && !strings.Contains(string(out), "in use") {
				t.Errorf("%v: %s", err, out)
			}
		}
		if _, code := n.call(t, "status"); code != 0 {
			t.Errorf("exit code %d of the first one's status", code)
		}
	})
	t.Run("AGT-6 top shows a session while it is there, as a forgery without a record", func(t *testing.T) {
		script := fmt.Sprintf("echo %d >/proc/self/loginuid && exec unshare -m sh -c 'echo begun; sleep 86399; true'", n.uid)
		held := exec.Command("unshare", "-m", "sh", "-c", script)
		held.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
		out, err := held.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := held.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			_ = syscall.Kill(-held.Process.Pid, syscall.SIGKILL)
			_ = held.Wait()
		})
		if line, err := bufio.NewReader(out).ReadString('\n'); line != "begun\n" {
			t.Skip("a process cannot mark itself here:", err)
		}
		var shown string
		until(t, "session in top", func() bool {
			var code int
			shown, code = n.call(t, "top")
			return code == 0 && strings.Contains(shown, "sleep 86399")
		})
		if !strings.Contains(shown, "forged?") || !strings.Contains(shown, "NEWEST COMMAND") {
			t.Errorf("%s", shown)
		}
		asJSON, code := n.call(t, "top", "--json")
		var s board.Snapshot
		if err := json.Unmarshal([]byte(asJSON), &s); err != nil || code != 0 || len(s.Sessions) != 1 || s.Sessions[0].Known || s.Sessions[0].LoginUID != n.uid {
			t.Errorf("exit code %d, %v: %+v", code, err, s)
		}
	})
	t.Run("AGT-4 status of an agent without eBPF has exit code 1", func(t *testing.T) {
		other := newNode(t)
		other.start(t, "--mode=connector", "--metrics-listen=127.0.0.1:0")
		if out, code := other.call(t, "status"); code != 1 || !strings.Contains(out, "!             the agent does not see by eBPF") {
			t.Errorf("exit code %d:\n%s", code, out)
		}
	})
}

func TestMetricsServed(t *testing.T) {
	n := newNode(t)
	address := fmt.Sprintf("127.0.0.%d:19093", 1+os.Getpid()%250)
	n.start(t, "--metrics-listen="+address)
	for path, want := range map[string]string{"/metrics": "lanyard_agent_events_total", "/healthz": "", "/readyz": ""} {
		t.Run("AGT-6 "+path, func(t *testing.T) {
			answer, err := http.Get("http://" + address + path)
			if err != nil {
				t.Fatal(err)
			}
			defer answer.Body.Close()
			text, err := io.ReadAll(answer.Body)
			if err != nil || answer.StatusCode != http.StatusOK || !strings.Contains(string(text), want) {
				t.Errorf("%s, %v: %s", answer.Status, err, text)
			}
		})
	}
	t.Run("AGT-6 no session is told there", func(t *testing.T) {
		answer, err := http.Get("http://" + address + "/snapshot")
		if err != nil {
			t.Fatal(err)
		}
		if err := answer.Body.Close(); err != nil || answer.StatusCode != http.StatusNotFound {
			t.Errorf("%s, %v", answer.Status, err)
		}
	})
}

func TestProbe(t *testing.T) {
	name, err := program()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct {
		name    string
		ambient []uintptr
		mode    string
		code    int
	}{
		{"AGT-7 CAP_BPF and CAP_PERFMON alone, without root", []uintptr{unix.CAP_BPF, unix.CAP_PERFMON}, "ebpf", 0},
		{"AGT-4 CAP_NET_ADMIN alone", []uintptr{unix.CAP_NET_ADMIN}, "connector", 3},
		{"AGT-4 nothing", nil, "none", 4},
	} {
		t.Run(row.name, func(t *testing.T) {
			c := exec.Command(name, "probe", "--json")
			c.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}, AmbientCaps: row.ambient}
			out, err := c.Output()
			if c.ProcessState == nil {
				t.Skip("no other user here:", err)
			}
			var r struct {
				Mode string `json:"mode"`
			}
			if err := json.Unmarshal(out, &r); err != nil || r.Mode != row.mode || c.ProcessState.ExitCode() != row.code {
				t.Errorf("mode %q, exit code %d, want %q and %d: %s", r.Mode, c.ProcessState.ExitCode(), row.mode, row.code, out)
			}
		})
	}
}

func TestArgs(t *testing.T) {
	for mode, want := range map[string]string{"keep": "--password=hunter2", "redact": "--password=", "hash": "", "omit": ""} {
		t.Run("AGT-6 arguments are told as configured: "+mode, func(t *testing.T) {
			n := newNode(t)
			more := []string{"--mode=ebpf", "--args=" + mode}
			if mode == "hash" {
				if err := os.WriteFile(n.path("key"), bytes.Repeat([]byte("k"), 16), 0o600); err != nil {
					t.Fatal(err)
				}
				more = append(more, "--args-key="+n.path("key"))
			}
			a := n.start(t, more...)
			id := n.session(t, "ls --password=hunter2 2>/dev/null || :")
			until(t, "line of the session's program", func() bool { return slices.Contains(n.ran(t, id), "ls") })
			a.end(t, syscall.SIGTERM)
			text, err := os.ReadFile(n.path("events.jsonl"))
			if err != nil {
				t.Fatal(err)
			}
			if has := strings.Contains(string(text), "hunter2"); has != (mode == "keep") || !strings.Contains(string(text), want) {
				t.Errorf("the secret is there: %t; want %q", has, want)
			}
		})
	}
	t.Run("AGT-6 a key that is too short ends the agent, and is not told", func(t *testing.T) {
		n := newNode(t)
		if err := os.WriteFile(n.path("key"), []byte("hunter2"), 0o600); err != nil {
			t.Fatal(err)
		}
		name, err := program()
		if err != nil {
			t.Fatal(err)
		}
		out, err := exec.Command(name, n.args("run", "--args=hash", "--args-key="+n.path("key"))...).CombinedOutput()
		if err == nil || !strings.Contains(string(out), "a key of 7 bytes") || strings.Contains(string(out), "hunter2") {
			t.Errorf("%v: %s", err, out)
		}
	})
}
