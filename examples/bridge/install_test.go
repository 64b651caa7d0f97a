package bridge_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/lanyard-dev/lanyard/examples/containerdrig"
	"github.com/lanyard-dev/lanyard/examples/parts"
	"github.com/lanyard-dev/lanyard/examples/runtime/namespace"
	"github.com/lanyard-dev/lanyard/examples/runtime/runtimetest"
	"github.com/lanyard-dev/lanyard/examples/testimage"
)

// Exit codes of the installer.
const (
	exitDone    = 0
	exitRestart = 3
	exitKeeping = 4
)

const installImage = "localhost/lanyard/install:1"

// installNode is a machine with a runtime that a wrapper is installed on.
type installNode struct {
	*runtimetest.Node
	rig     *containerdrig.Rig
	config  containerdrig.Config
	mode    string
	dir     string // the installation's
	pid     int    // in whose mount namespace is installed; 0 is the test's
	wrapper string
}

// newInstallNode starts containerd. In mode bind it has a mount namespace of its own, below which is another one that
// gets its mounts, where slave is set.
func newInstallNode(t *testing.T, mode string, old, slave bool) *installNode {
	t.Helper()
	prefix := ""
	if old {
		prefix = "debian/"
	}
	parts.Need(t, prefix+"runc", prefix+"containerd", prefix+"containerd-shim-runc-v2", prefix+"ctr", "lanyard-reporter", "lanyard-oci", "lanyard-bridge")
	dir, err := os.MkdirTemp("", "lanyard-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	find := containerdrig.Find
	if old {
		find = containerdrig.FindDebian
	}
	n := &installNode{mode: mode, dir: filepath.Join(dir, "an installation")}
	if n.config, err = find(dir); err != nil {
		t.Fatal(err)
	}
	if mode == "bind" {
		n.ownMounts(t, slave)
	}
	ctx := runtimetest.Context(t)
	if n.rig, err = containerdrig.Start(ctx, n.config); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := n.rig.Stop(); err != nil {
			t.Error(err)
		}
	})
	n.Node = runtimetest.Dial(t, n.rig.Socket())
	pause, err := testimage.Pause()
	if err = errors.Join(err, n.rig.Import(ctx, containerdrig.PauseImage, pause)); err != nil {
		t.Fatal(err)
	}
	image, err := testimage.Build(testimage.Spec{Reporter: parts.Need(t, "lanyard-reporter")[0]})
	if err = errors.Join(err, n.rig.Import(ctx, installImage, image)); err != nil {
		t.Fatal(err)
	}
	n.wrapper = filepath.Join(n.dir, "opt", "bin", "lanyard-oci-runc")
	if mode == "runtimeclass" {
		n.wrapper = filepath.Join(n.dir, "opt", "bin", "lanyard-oci-lanyard")
	}
	return n
}

// ownMounts gives the node a copy of the machine's mounts, its own /run, and a runtime that may be covered.
func (n *installNode) ownMounts(t *testing.T, slave bool) {
	t.Helper()
	content, err := os.ReadFile(n.config.Runc)
	n.config.Runc = filepath.Join(n.config.Dir, "real runc")
	if err = errors.Join(err, os.WriteFile(n.config.Runc, content, 0o755)); err != nil {
		t.Fatal(err)
	}
	holder := exec.Command("sleep", "infinity")
	var mounts *os.File
	err = namespace.OnThread(func() (err error) {
		if err := unix.Unshare(unix.CLONE_NEWNS); err != nil {
			return err
		}
		if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
			return err
		}
		if err := unix.Mount("tmpfs", "/run", "tmpfs", 0, ""); err != nil {
			return err
		}
		if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_SHARED, ""); err != nil {
			return err
		}
		if mounts, err = os.Open("/proc/thread-self/ns/mnt"); err != nil {
			return err
		}
		return holder.Start()
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = holder.Process.Kill()
		_ = holder.Wait()
		_ = mounts.Close()
	})
	n.pid = holder.Process.Pid
	n.config.Launch = func(cmd *exec.Cmd) error {
		return namespace.OnThread(func() error {
			if err := errors.Join(unix.Unshare(unix.CLONE_FS), unix.Setns(int(mounts.Fd()), unix.CLONE_NEWNS)); err != nil {
				return err
			}
			if slave {
				if err := errors.Join(unix.Unshare(unix.CLONE_NEWNS), unix.Mount("", "/", "", unix.MS_REC|unix.MS_SLAVE, "")); err != nil {
					return err
				}
			}
			return cmd.Start()
		})
	}
}

// bridge runs a command of lanyard-bridge, which must exit as wanted, and returns what it printed.
func (n *installNode) bridge(t *testing.T, want int, command string, args ...string) string {
	t.Helper()
	args = append([]string{
		command, "--mode", n.mode, "--prefix", filepath.Join(n.dir, "opt"), "--state", filepath.Join(n.dir, "state"), "--keys", filepath.Join(n.dir, "etc", "keys"),
		"--cri-socket", n.rig.Socket(), "--mount-namespace", strconv.Itoa(n.pid),
	}, args...)
	switch command {
	case "install":
		args = append(args, "--node-name", "n1")
	case "uninstall":
		args = append(args, "--settle", "0s")
	}
	var out, said bytes.Buffer
	cmd := exec.CommandContext(runtimetest.Context(t), parts.Need(t, "lanyard-bridge")[0], args...)
	cmd.Stdout, cmd.Stderr = &out, &said
	err := cmd.Run()
	if err != nil && !errors.As(err, new(*exec.ExitError)) {
		t.Fatal(err)
	}
	if code := cmd.ProcessState.ExitCode(); code != want {
		t.Fatalf("%s exited with %d, want %d: %s%s", command, code, want, out.String(), said.String())
	}
	return out.String()
}

// installStatus is what the tests read of a status.
type installStatus struct {
	Mode    string
	Active  bool
	Leaving bool
	Restart string
	Older   []struct{ ID string }
	Keeping []struct{ ID string }
}

func (n *installNode) status(t *testing.T) (s installStatus) {
	t.Helper()
	if err := json.Unmarshal([]byte(n.bridge(t, exitDone, "status", "-o", "json", "--daemon", "")), &s); err != nil {
		t.Fatal(err)
	}
	return s
}

func (n *installNode) restart(t *testing.T) {
	t.Helper()
	if err := n.rig.Restart(runtimetest.Context(t)); err != nil {
		t.Fatal(err)
	}
}

// files are the configuration and everything beside it, by path.
func (n *installNode) files(t *testing.T) map[string]string {
	t.Helper()
	out := map[string]string{}
	names, err := filepath.Glob(filepath.Join(n.config.Dir, "*.toml"))
	more, moreErr := filepath.Glob(filepath.Join(n.config.Dir, "conf.d", "*"))
	for _, name := range append(names, more...) {
		text, readErr := os.ReadFile(name)
		out[name], err = string(text), errors.Join(err, readErr)
	}
	if err = errors.Join(err, moreErr); err != nil {
		t.Fatal(err)
	}
	return out
}

// wrapped tells whether the container's execs go through the wrapper: it refuses what is no token, and a runtime finds
// no such program.
func (n *installNode) wrapped(t *testing.T, c *runtimetest.Container) bool {
	t.Helper()
	s := runtimetest.Session{Cmd: []string{"lanyard-exec:1:none", testimage.Program}}
	err := c.Exec(runtimetest.Context(t), &s)
	if err == nil && s.Code == 0 {
		t.Fatalf("a command that is no program ran: %q", s.Out.String())
	}
	said := fmt.Sprint(err, s.Err.String())
	switch refused, missing := strings.Contains(said, "lanyard-oci"), strings.Contains(said, "not found"); {
	case refused && !missing:
		return true
	case missing && !refused:
		return false
	}
	t.Fatalf("an exec of something like a token said %q", said)
	return false
}

// works executes a command, both ways.
func works(t *testing.T, when string, containers ...*runtimetest.Container) {
	t.Helper()
	for _, c := range containers {
		if s := c.MustExec(t, &runtimetest.Session{Cmd: []string{testimage.Program}}); s.Code != 0 {
			t.Errorf("%s: exec in %s: exit code %d, %s", when, c.ID, s.Code, s.Err.String())
		}
		r, err := c.ExecSync(runtimetest.Context(t), &runtimeapi.ExecSyncRequest{ContainerId: c.ID, Cmd: []string{testimage.Program}, Timeout: 30})
		if err != nil || r.ExitCode != 0 {
			t.Errorf("%s: ExecSync in %s: %v, %v", when, c.ID, r, err)
		}
	}
}

// stops stops and removes containers.
func stops(t *testing.T, when string, containers ...*runtimetest.Container) {
	t.Helper()
	ctx := runtimetest.Context(t)
	for _, c := range containers {
		if _, err := c.StopContainer(ctx, &runtimeapi.StopContainerRequest{ContainerId: c.ID, Timeout: 1}); err != nil {
			t.Errorf("%s: StopContainer: %v", when, err)
		}
		if _, err := c.RemoveContainer(ctx, &runtimeapi.RemoveContainerRequest{ContainerId: c.ID}); err != nil {
			t.Errorf("%s: RemoveContainer: %v", when, err)
		}
	}
}

// pod runs a pod with the runtime handler.
func (n *installNode) pod(t *testing.T, handler string) *runtimetest.Pod {
	t.Helper()
	if handler == "" {
		return n.RunPod(t)
	}
	name := fmt.Sprintf("pod-%p", t)
	p := &runtimetest.Pod{Node: n.Node, Config: &runtimeapi.PodSandboxConfig{
		Metadata: &runtimeapi.PodSandboxMetadata{Name: name, Uid: name, Namespace: "test"}, LogDirectory: t.TempDir(),
		Linux: &runtimeapi.LinuxPodSandboxConfig{SecurityContext: &runtimeapi.LinuxSandboxSecurityContext{
			NamespaceOptions: &runtimeapi.NamespaceOption{Network: runtimeapi.NamespaceMode_NODE, Pid: runtimeapi.NamespaceMode_CONTAINER},
		}},
	}}
	r, err := n.RunPodSandbox(runtimetest.Context(t), &runtimeapi.RunPodSandboxRequest{Config: p.Config, RuntimeHandler: handler})
	if err != nil {
		t.Fatal(err)
	}
	p.ID = r.PodSandboxId
	t.Cleanup(func() { p.Remove(t) })
	return p
}

func hold(t *testing.T, p *runtimetest.Pod) *runtimetest.Container {
	t.Helper()
	return p.Start(t, installImage, []string{testimage.Program, "sleep"})
}

func TestInstall(t *testing.T) {
	for _, mode := range []string{"drop-in", "runtimeclass", "bind"} {
		for _, old := range []bool{false, true} {
			runtime := "containerd 2.4"
			if old {
				runtime = "containerd 1.6"
			}
			t.Run("BRG-9 BRG-11 "+mode+" on "+runtime+" with running pods", func(t *testing.T) { installAcross(t, newInstallNode(t, mode, old, false)) })
		}
	}
	t.Run("BRG-9 BRG-11 bind where containerd has a mount namespace of its own", func(t *testing.T) {
		installAcross(t, newInstallNode(t, "bind", false, true))
	})
}

// installAcross makes containers before, during and after, in pods that are as old as they are or older.
func installAcross(t *testing.T, n *installNode) {
	handler, restarts := "", n.mode != "bind"
	if n.mode == "runtimeclass" {
		handler = "lanyard"
	}
	configuration := n.files(t)
	before := hold(t, n.pod(t, ""))

	if restarts {
		n.bridge(t, exitRestart, "install")
		works(t, "installed and not restarted", before)
		n.rig.Kill()
		n.restart(t)
	}
	n.bridge(t, exitDone, "install")
	installedText := n.files(t)
	if said := n.bridge(t, exitDone, "install"); !strings.Contains(said, ", active;") {
		t.Errorf("install again said %s", said)
	}
	if now := n.files(t); !equalFiles(now, installedText) {
		t.Errorf("install again changed %q to %q", installedText, now)
	}

	during := hold(t, n.pod(t, handler))
	inOld := hold(t, before.Pod) // a container that restarts in a pod of before
	for _, c := range []struct {
		name string
		of   *runtimetest.Container
		want bool
	}{{"before", before, n.mode == "bind"}, {"during", during, true}, {"during in a pod of before", inOld, n.mode == "bind"}} {
		if got := n.wrapped(t, c.of); got != c.want {
			t.Errorf("an exec in the container made %s goes through the wrapper: %t, want %t", c.name, got, c.want)
		}
	}
	s := n.status(t)
	if older := slices.ContainsFunc(s.Older, func(u struct{ ID string }) bool { return u.ID == inOld.ID }); !s.Active || older != (n.mode == "drop-in") {
		t.Errorf("status is %+v; the container in a pod of before among the older: %t", s, older)
	}
	works(t, "installed", before, during, inOld)
	stops(t, "installed", inOld)
	n.daemonSays(t, "installed", true)
	if restarts {
		n.put(t, installedText, configuration)
		n.daemonSays(t, "the configuration was changed back by hand", false)
		n.put(t, configuration, installedText)
		n.daemonSays(t, "the configuration is there again", true)
	}

	n.upgradeRuntime(t, n.mode == "bind")
	if n.mode == "bind" {
		n.umountUndoes(t, before)
		n.replaced(t, before)
	}

	// What others change stays.
	main := n.rig.ConfigFile()
	appendTo(t, main, "# of another program\n")
	configuration[main] += "# of another program\n"
	switch n.mode {
	case "bind":
		n.bridge(t, exitDone, "uninstall")
	case "drop-in":
		n.bridge(t, exitRestart, "uninstall")
		if now := n.files(t); !equalFiles(now, configuration) {
			t.Errorf("the configuration is %q, was %q", now, configuration)
		}
		works(t, "uninstalled and not restarted", before, during)
		n.restart(t)
		n.bridge(t, exitKeeping, "uninstall")
	case "runtimeclass":
		n.bridge(t, exitKeeping, "uninstall")
		n.restart(t)
		n.bridge(t, exitKeeping, "uninstall")
	}
	n.upgradeRuntime(t, false)
	inLeft := hold(t, during.Pod) // a container that restarts in a pod of during
	after := hold(t, n.pod(t, ""))
	works(t, "uninstalled", before, during, inLeft, after)
	for _, c := range []*runtimetest.Container{before, during, inLeft, after} {
		if n.wrapped(t, c) {
			t.Errorf("after uninstall the wrapper still refuses in %s", c.ID)
		}
	}
	stops(t, "uninstalled", before, during, inLeft, after)
	if during.Remove(t); restarts {
		code := exitDone
		if n.mode == "runtimeclass" {
			n.bridge(t, exitRestart, "uninstall")
			n.restart(t)
		}
		n.bridge(t, code, "uninstall")
	}
	n.gone(t, configuration)
}

// inside runs f in the mount namespace that is installed in.
func (n *installNode) inside(f func() error) error {
	return namespace.OnThread(func() error {
		mounts, err := os.Open(fmt.Sprintf("/proc/%d/ns/mnt", n.pid))
		if err != nil {
			return err
		}
		defer mounts.Close()
		if err := errors.Join(unix.Unshare(unix.CLONE_FS), unix.Setns(int(mounts.Fd()), unix.CLONE_NEWNS)); err != nil {
			return err
		}
		return f()
	})
}

// replaced replaces the real runtime from another mount namespace, where nothing covers it: the kernel takes the cover off.
func (n *installNode) replaced(t *testing.T, c *runtimetest.Container) {
	t.Helper()
	next := n.config.Runc + ".new"
	content, err := os.ReadFile(n.config.Runc)
	if err = errors.Join(err, os.WriteFile(next, content, 0o755), os.Rename(next, n.config.Runc)); err != nil {
		t.Fatal(err)
	}
	if n.wrapped(t, c) || n.status(t).Active {
		t.Error("a runtime that was replaced elsewhere is told as covered")
	}
	n.daemonSays(t, "the runtime was replaced elsewhere", false)
	works(t, "replaced", c)
	n.bridge(t, exitDone, "install")
	if !n.wrapped(t, c) {
		t.Error("install does not cover the new runtime")
	}
}

// umountUndoes takes the cover off by hand, and installs again.
func (n *installNode) umountUndoes(t *testing.T, c *runtimetest.Container) {
	t.Helper()
	if err := n.inside(func() error { return unix.Unmount(n.config.Runc, unix.MNT_DETACH) }); err != nil {
		t.Fatal(err)
	}
	if n.wrapped(t, c) || n.status(t).Active {
		t.Error("one umount does not undo it")
	}
	n.daemonSays(t, "unmounted", false)
	works(t, "unmounted", c)
	n.bridge(t, exitDone, "install")
	if !n.wrapped(t, c) {
		t.Error("install does not cover the runtime again")
	}
	n.daemonSays(t, "covered again", true)
}

// upgradeRuntime replaces the real runtime as a package manager does, which fails while it is covered.
func (n *installNode) upgradeRuntime(t *testing.T, covered bool) {
	t.Helper()
	if n.pid == 0 {
		return // the file is everybody's
	}
	err := n.inside(func() error {
		content, err := os.ReadFile(filepath.Join("/run/lanyard/real", strings.ReplaceAll(n.config.Dir[1:], "/", "-"), filepath.Base(n.config.Runc)))
		if !covered {
			content, err = os.ReadFile(n.config.Runc)
		}
		if err != nil {
			return err
		}
		next := n.config.Runc + ".dpkg-new"
		if err := os.WriteFile(next, content, 0o755); err != nil {
			return err
		}
		err = os.Rename(next, n.config.Runc)
		if busy := errors.Is(err, unix.EBUSY); covered && busy {
			return os.Remove(next)
		}
		if err == nil && covered {
			return errors.New("it was replaced")
		}
		return err
	})
	if err != nil {
		t.Errorf("an upgrade of the runtime, covered %t: %v", covered, err)
	}
}

// gone checks that nothing but keys, records and journal is left.
func (n *installNode) gone(t *testing.T, configuration map[string]string) {
	t.Helper()
	if now := n.files(t); !equalFiles(now, configuration) {
		t.Errorf("the configuration is %q, was %q", now, configuration)
	}
	if _, err := os.Stat(filepath.Join(n.dir, "opt")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the wrapper's directory is there: %v", err)
	}
	if said := n.bridge(t, exitDone, "uninstall"); !strings.Contains(said, "not installed") {
		t.Errorf("uninstall of nothing said %s", said)
	}
	if n.pid != 0 {
		mounts, err := os.ReadFile(fmt.Sprintf("/proc/%d/mountinfo", n.pid))
		if err != nil || bytes.Contains(mounts, []byte("lanyard-oci")) || bytes.Contains(mounts, []byte("/run/lanyard")) {
			t.Errorf("mounts are left: %v\n%s", err, mounts)
		}
	}
}

func equalFiles(a, b map[string]string) bool {
	if len(a) != len(b) {
		return false
	}
	for name, text := range a {
		if b[name] != text {
			return false
		}
	}
	return true
}

func appendTo(t *testing.T, path, text string) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	_, err = f.WriteString(text)
	if err = errors.Join(err, f.Close()); err != nil {
		t.Fatal(err)
	}
}

// TestInstallHarm is what harms, and what heals it.
func TestInstallHarm(t *testing.T) {
	n := newInstallNode(t, "drop-in", false, false)
	n.bridge(t, exitRestart, "install")
	n.restart(t)
	n.bridge(t, exitDone, "install")
	c := hold(t, n.pod(t, ""))

	t.Run("BRG-9 an upgrade in the middle of an exec harms neither it nor the next", func(t *testing.T) {
		var out runtimetest.Buffer
		done := make(chan error, 1)
		in, give, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		go func() {
			done <- c.Exec(runtimetest.Context(t), &runtimetest.Session{Cmd: []string{testimage.Program, "hold"}, Stdin: in, Stdout: &out})
		}()
		runtimetest.Eventually(t, "the exec has begun", func() bool { return out.Len() > 0 })
		former := n.bridge(t, exitDone, "status", "--daemon", "")
		next := filepath.Join(n.config.Dir, "next-oci")
		content, err := os.ReadFile(parts.Need(t, "lanyard-oci")[0])
		if err = errors.Join(err, os.WriteFile(next, append(content, 0), 0o755)); err != nil {
			t.Fatal(err)
		}
		n.bridge(t, exitDone, "install", "--wrapper", next)
		if now := n.bridge(t, exitDone, "status", "--daemon", ""); now == former {
			t.Errorf("the wrapper is as it was: %s", now)
		}
		works(t, "upgraded", c)
		if err := errors.Join(give.Close(), <-done, in.Close()); err != nil {
			t.Error(err)
		}
	})
	t.Run("BRG-11 a wrapper that is taken away by force is missed, and install heals it", func(t *testing.T) {
		n.bridge(t, exitDone, "uninstall", "--force")
		n.restart(t)
		if err := c.Exec(runtimetest.Context(t), &runtimetest.Session{Cmd: []string{testimage.Program}}); err == nil {
			t.Error("an exec in a container that remembers the wrapper went on without it")
		}
		n.bridge(t, exitRestart, "install")
		works(t, "healed", c)
		stops(t, "healed", c)
	})
	t.Run("BRG-9 what the runtime never read is undone without its restart", func(t *testing.T) {
		before := n.files(t)
		c.Remove(t)
		n.bridge(t, exitDone, "uninstall") // containerd was not restarted since
		text := n.files(t)
		n.bridge(t, exitRestart, "install")
		n.bridge(t, exitDone, "uninstall")
		if now := n.files(t); !equalFiles(now, text) || equalFiles(now, before) {
			t.Errorf("the configuration is %q, was %q", now, text)
		}
	})
}
