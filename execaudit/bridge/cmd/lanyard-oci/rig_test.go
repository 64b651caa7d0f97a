//go:build linux

package main_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/lanyard-dev/lanyard/execaudit/bridge"
	"github.com/lanyard-dev/lanyard/execaudit/bridge/oci"
	"github.com/lanyard-dev/lanyard/execaudit/bridge/spool"
	"github.com/lanyard-dev/lanyard/execaudit/bridge/token"
)

// built are the programs that TestMain builds.
var built struct{ wrapper, probe string }

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "lanyard-oci")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	built.wrapper, built.probe = filepath.Join(dir, "lanyard-oci"), filepath.Join(dir, "probe")
	for path, source := range map[string]string{built.wrapper: ".", built.probe: "./testdata/probe"} {
		build := exec.Command("go", "build", "-buildvcs=false", "-ldflags=-s -w", "-o", path, source)
		build.Env = append(os.Environ(), "CGO_ENABLED=0")
		if out, err := build.CombinedOutput(); err != nil {
			fmt.Fprintf(os.Stderr, "%v\n%s", err, out)
			return 1
		}
	}
	return m.Run()
}

// realRuntime is an OCI runtime under the wrapper.
type realRuntime struct {
	name, path string
	// env is what the program needs beside the tests' own, enter a command that brings it where it runs.
	env, enter []string
}

// withoutUnified is a mount namespace without cgroup2 beside cgroup1, which crun refuses.
var withoutUnified = []string{"unshare", "--mount", "--propagation", "private", "sh", "-c", `umount -l /sys/fs/cgroup/unified 2>/dev/null; exec "$@"`, "sh"}

// runtimes returns the real runtimes; without all of them, or root, the test is skipped.
func runtimes(t testing.TB) []realRuntime {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("only root runs containers and sets login UIDs")
	}
	if _, err := os.Stat("/proc/self/loginuid"); err != nil {
		t.Skip("the kernel has no audit")
	}
	dir := os.Getenv("LANYARD_BIN")
	if wd, err := os.Getwd(); err == nil && dir == "" {
		dir = filepath.Join(wd, "..", "..", "..", "..", ".build", "bin")
	}
	all := []realRuntime{
		{name: "runc", path: filepath.Join(dir, "runc")},
		{name: "runc of Debian", path: filepath.Join(dir, "debian", "runc")},
		{
			name: "crun", path: filepath.Join(dir, "debian", "crun"),
			env: []string{"LD_LIBRARY_PATH=" + filepath.Join(dir, "debian")}, enter: withoutUnified,
		},
	}
	for _, r := range all {
		if _, err := os.Stat(r.path); err != nil {
			t.Skipf("the tests run with real runtimes, in $LANYARD_BIN or .build/bin: %v", err)
		}
	}
	return all
}

// node is a directory with the wrapper beside its configuration, and one container in which the probe waits.
type node struct {
	t       testing.TB
	runtime realRuntime
	dir     string
	key     token.Key
	id      string
	config  oci.Config
	calls   atomic.Int64
}

var nodes atomic.Int64

// newNode installs the wrapper and starts the container through it.
func newNode(t testing.TB, r realRuntime, changes ...func(*node, map[string]any)) *node {
	t.Helper()
	dir, err := os.MkdirTemp("", "a node ") // with a space, as are all paths in it
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	n := &node{t: t, runtime: r, dir: dir, key: token.NewKey(), id: fmt.Sprintf("lanyard-oci-%d-%d", os.Getpid(), nodes.Add(1))}
	for _, sub := range []string{"root", "spool", "bundle/rootfs/proc", "bundle/rootfs/dev", "bundle/rootfs/sys"} {
		must(t, os.MkdirAll(n.path(sub), 0o755))
	}
	link(t, built.wrapper, n.path("lanyard oci"))
	link(t, built.probe, n.path("bundle/rootfs/probe"))
	n.config = oci.Config{Runtime: r.path, Node: "n1", Keys: n.path("keys"), Spool: n.path("spool")}
	n.write("keys", token.Keys{n.key.Public()}.Text())
	spec := n.spec()
	for _, change := range changes {
		change(n, spec)
	}
	n.configure(func(*oci.Config) {})
	n.write("bundle/config.json", text(spec))
	// Its output is a file: a pipe would stay open as long as the container.
	out, err := os.Create(n.path("container.out"))
	must(t, err)
	defer out.Close()
	start := n.command(n.path("lanyard oci"), "--root", n.path("root"), "run", "--detach", "--bundle", n.path("bundle"), n.id)
	start.Stdout, start.Stderr = out, out
	t.Cleanup(func() {
		if r := n.call(n.runtime.path, "--root", n.path("root"), "delete", "--force", n.id); r.code != 0 {
			t.Errorf("delete: %+v", r)
		}
	})
	if err := start.Run(); err != nil {
		said, _ := os.ReadFile(n.path("container.out"))
		t.Fatalf("%s: run: %v: %s", r.name, err, said)
	}
	return n
}

// spec is the container's config.json, with containerd's annotations.
func (n *node) spec() map[string]any {
	caps := []string{"CAP_SETUID", "CAP_KILL"}
	return map[string]any{
		"ociVersion": "1.0.2",
		"process": map[string]any{
			"user": map[string]int{"uid": 0, "gid": 0}, "args": []string{"/probe", "forever"}, "env": []string{"A=1"}, "cwd": "/", "noNewPrivileges": true,
			"capabilities": map[string]any{"bounding": caps, "effective": caps, "permitted": caps},
		},
		"root": map[string]any{"path": "rootfs"},
		"mounts": []map[string]any{
			{"destination": "/proc", "type": "proc", "source": "proc"},
			{"destination": "/dev", "type": "tmpfs", "source": "tmpfs", "options": []string{"nosuid", "mode=755"}},
			{"destination": "/dev/pts", "type": "devpts", "source": "devpts", "options": []string{"newinstance", "ptmxmode=0666"}},
		},
		"annotations": map[string]string{
			"io.kubernetes.cri.container-type": "container", "io.kubernetes.cri.container-name": "app", "io.kubernetes.cri.sandbox-name": "web",
			"io.kubernetes.cri.sandbox-namespace": "default", "io.kubernetes.cri.sandbox-uid": "u1",
		},
		"linux": map[string]any{
			"cgroupsPath": "/" + n.id,
			"namespaces":  []map[string]string{{"type": "pid"}, {"type": "mount"}, {"type": "ipc"}, {"type": "uts"}},
		},
	}
}

func (n *node) path(name string) string { return filepath.Join(n.dir, name) }

func (n *node) write(name, text string) {
	n.t.Helper()
	must(n.t, os.WriteFile(n.path(name), []byte(text), 0o600))
}

// configure replaces the wrapper's configuration, as an installer does.
func (n *node) configure(change func(*oci.Config)) {
	n.t.Helper()
	change(&n.config)
	n.write("next.json", string(n.config.Encode()))
	must(n.t, os.Rename(n.path("next.json"), n.path("lanyard oci.json")))
}

// command is a call of a program where the runtime runs.
func (n *node) command(name string, args ...string) *exec.Cmd {
	words := append(append(append([]string{}, n.runtime.enter...), name), args...)
	cmd := exec.Command(words[0], words[1:]...)
	cmd.Env, cmd.Dir = append(os.Environ(), n.runtime.env...), n.dir
	return cmd
}

// result is what a call said and how it ended.
type result struct {
	code     int
	out, err string
}

func (n *node) call(name string, args ...string) result {
	return n.run(n.command(name, args...))
}

func (n *node) run(cmd *exec.Cmd) result {
	n.t.Helper()
	var out, err bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &err
	if fault := cmd.Run(); fault != nil && cmd.ProcessState == nil {
		n.t.Fatal(fault)
	}
	return result{cmd.ProcessState.ExitCode(), out.String(), err.String()}
}

// sign returns a token for the container and the command, as change has it.
func (n *node) sign(command []string, tty bool, change func(*token.Token)) (string, token.Token) {
	n.t.Helper()
	now := time.Now().Truncate(time.Second).UTC()
	t := token.Token{
		Session: bridge.NewSessionID(), Pod: token.Pod{UID: "u1", Namespace: "default", Name: "web"}, Container: "app", Node: "n1",
		NotBefore: now.Add(-time.Second), Expiry: now.Add(time.Minute), Nonce: bridge.NewSessionID(), Requester: [16]byte{1},
		Command: token.Digest(command, tty),
	}
	if change != nil {
		change(&t)
	}
	text, err := n.key.Sign(t)
	must(n.t, err)
	return text, t
}

// attempt is one exec in the form of containerd's.
type attempt struct {
	args, env, caps []string
	tty             bool
	options         []string
	// raw is the process file's text, for one that is not made from the above.
	raw string
}

// outcome is what came of an attempt.
type outcome struct {
	result
	file, log, pidFile string
	// text is the process file's before the call.
	text string
}

// exec runs an attempt in the foreground through the program at path.
func (n *node) exec(path string, a attempt) outcome {
	n.t.Helper()
	o, cmd := n.prepare(path, a)
	o.result = n.run(cmd)
	return o
}

func (n *node) prepare(path string, a attempt) (outcome, *exec.Cmd) {
	n.t.Helper()
	number := n.calls.Add(1)
	o := outcome{
		file: n.path(fmt.Sprintf("runc-process%d", number)), log: n.path(fmt.Sprintf("log%d.json", number)),
		pidFile: n.path(fmt.Sprintf("e%d.pid", number)), text: a.raw,
	}
	if o.text == "" {
		process := map[string]any{
			"terminal": a.tty, "user": map[string]int{"uid": 0, "gid": 0}, "args": a.args, "env": append([]string{"A=<1>"}, a.env...), "cwd": "/",
		}
		if a.caps != nil {
			process["capabilities"] = map[string]any{"bounding": a.caps, "effective": a.caps, "permitted": a.caps}
		}
		o.text = text(process)
	}
	n.write(filepath.Base(o.file), o.text)
	args := append([]string{"--root", n.path("root"), "--log", o.log, "--log-format", "json", "exec", "--process", o.file, "--pid-file", o.pidFile}, a.options...)
	return o, n.command(path, append(args, n.id)...)
}

// wrapped runs an attempt through the wrapper.
func (n *node) wrapped(a attempt) outcome { n.t.Helper(); return n.exec(n.path("lanyard oci"), a) }

// records returns the spool's.
func (n *node) records() (all []spool.Record) {
	n.t.Helper()
	for r, err := range spool.Records(n.config.Spool) {
		if errors.Is(err, spool.ErrIncomplete) {
			continue // of a wrapper that was killed
		}
		must(n.t, err)
		all = append(all, r)
	}
	return all
}

// refusals returns the spool's and removes them.
func (n *node) refusals() (all []spool.Refusal) {
	n.t.Helper()
	for r, err := range spool.Refusals(n.config.Spool) {
		must(n.t, errors.Join(err, spool.RemoveRefusal(n.config.Spool, r.Name)))
		all = append(all, r.Refusal)
	}
	return all
}

// report is what the probe says of a process.
type report struct {
	Args, Env           []string
	LoginUID, SessionID string
	Login               string
}

// reports returns the probe's lines.
func reports(t testing.TB, out string) (all []report) {
	t.Helper()
	for line := range strings.Lines(out) {
		var r report
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			t.Fatalf("the probe said %q", out)
		}
		all = append(all, r)
	}
	return all
}

func text(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(text)
}

// link copies a program in no time, and where that cannot be, by its bytes.
func link(t testing.TB, from, to string) {
	t.Helper()
	if os.Link(from, to) == nil {
		return
	}
	content, err := os.ReadFile(from)
	must(t, err)
	must(t, os.WriteFile(to, content, 0o755))
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
