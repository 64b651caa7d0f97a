//go:build linux

package node

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/lanyard-dev/lanyard/execaudit/bridge/cmd/lanyard-bridge/internal/proc"
	"github.com/lanyard-dev/lanyard/execaudit/bridge/spool"
	"github.com/lanyard-dev/lanyard/execaudit/journal"
)

var host = proc.FS{Root: "/proc"}

// oneOf waits for the only record of a kind and session.
func oneOf(t *testing.T, o Options, kind journal.Kind, r spool.Record) journal.Record {
	t.Helper()
	var found []journal.Record
	eventually(t, "the "+string(kind), func() bool {
		found = of(records(t, o.journalFile()), kind, r.Session.String())
		return len(found) > 0
	})
	if len(found) > 1 {
		t.Errorf("%d records %+v", len(found), found)
	}
	return found[0]
}

// session runs a shell in a cgroup that is named as its container's. Its standard input decides when it ends.
func session(t *testing.T, o Options, r spool.Record, script string) (*exec.Cmd, io.WriteCloser) {
	t.Helper()
	c := wrapper(t, wrapping{Spool: o.spoolDir(), Record: r, Cgroup: cgroup(t, r.Where.ContainerID), Argv: []string{"/bin/sh", "-c", script}})
	in, err := c.StdinPipe()
	must(t, err)
	must(t, c.Start())
	t.Cleanup(func() {
		_ = c.Process.Kill()
		_ = c.Wait()
		endSession(t, o.spoolDir(), r)
	})
	return c, in
}

// endSession ends what a session left behind.
func endSession(t testing.TB, spoolDir string, r spool.Record) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(spoolDir, fmt.Sprintf("%x.json", r.Nonce)))
	must(t, err)
	left, err := spool.ParseRecord(text)
	must(t, err)
	found, err := host.Sessions(func(s uint32) bool { return s == left.SessionID })
	must(t, err)
	for _, pid := range found[left.SessionID] {
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
}

func TestFollow(t *testing.T) {
	t.Run("BRG-3 the first process and its exit code", func(t *testing.T) {
		o := options(t)
		start(t, o)
		r := record(1)
		c, in := session(t, o, r, "read code; exit $code")
		s := oneOf(t, o, journal.KindStart, r)
		if s.PID != c.Process.Pid || s.StartTicks != host.Identity(s.PID) || s.BootID != bootID() || s.LoginUID != r.Session.LoginUID() || s.SessionID == 0 {
			t.Errorf("start %+v of process %d", s, c.Process.Pid)
		}
		fmt.Fprintln(in, 7)
		_ = c.Wait()
		if e := oneOf(t, o, journal.KindEnd, r); e.ExitCode == nil || *e.ExitCode != 7 || e.Process != s.Process {
			t.Errorf("end %+v of start %+v", e, s)
		}
	})
	t.Run("ATT-14 the end is when the process was seen to exit, before anybody else could have its PID", func(t *testing.T) {
		o := options(t)
		start(t, o)
		kept, gone := record(1), record(2)
		c, in := session(t, o, kept, "read code; exit $code")
		began := oneOf(t, o, journal.KindStart, kept).Time
		fmt.Fprintln(in, 0)
		end := oneOf(t, o, journal.KindEnd, kept) // nobody has reaped it
		if end.Reason != "" || end.Time.Before(began) || end.Time.After(time.Now()) {
			t.Errorf("end %+v of a session that began at %v", end, began)
		}
		_ = c.Wait()
		d, _ := session(t, o, gone, "read x")
		oneOf(t, o, journal.KindStart, gone)
		must(t, d.Process.Kill())
		_ = d.Wait()
		reaped := time.Now()
		if end := oneOf(t, o, journal.KindEnd, gone); end.Time.After(reaped) && end.Reason == "" {
			t.Errorf("end %+v says nothing of a PID that was free by %v", end, reaped)
		}
	})
	t.Run("BRG-3 one that a signal ended", func(t *testing.T) {
		o := options(t)
		start(t, o)
		r := record(1)
		c, _ := session(t, o, r, "read x")
		oneOf(t, o, journal.KindStart, r)
		must(t, c.Process.Signal(syscall.SIGTERM))
		_ = c.Wait()
		if e := oneOf(t, o, journal.KindEnd, r); e.ExitCode == nil || *e.ExitCode != 143 {
			t.Errorf("end %+v", e)
		}
	})
	t.Run("BRG-6 sessions go on across restarts of the daemon, and one that ended meanwhile is told", func(t *testing.T) {
		o := options(t)
		_, stop := start(t, o)
		stays, ends := record(1), record(2)
		c, in := session(t, o, stays, "read code; exit $code")
		d, _ := session(t, o, ends, "read code; exit $code")
		oneOf(t, o, journal.KindStart, stays)
		oneOf(t, o, journal.KindStart, ends)
		stop()
		must(t, d.Process.Kill())
		_ = d.Wait()
		late := record(3) // while nobody is there
		l, lin := session(t, o, late, "read code; exit $code")
		start(t, o)
		if e := oneOf(t, o, journal.KindEnd, ends); e.ExitCode != nil || e.Reason != lostAway || e.PID != d.Process.Pid {
			t.Errorf("end %+v", e)
		}
		if s := oneOf(t, o, journal.KindStart, late); s.PID != l.Process.Pid {
			t.Errorf("start %+v of %d", s, l.Process.Pid)
		}
		fmt.Fprintln(in, 3)
		fmt.Fprintln(lin, 4)
		_, _ = c.Wait(), l.Wait()
		for code, r := range map[int]spool.Record{3: stays, 4: late} {
			if e := oneOf(t, o, journal.KindEnd, r); e.ExitCode == nil || *e.ExitCode != code {
				t.Errorf("end %+v, want code %d", e, code)
			}
		}
		if n := len(of(records(t, o.journalFile()), journal.KindIntent, "")); n != 3 {
			t.Errorf("%d intents, want 3", n)
		}
	})
	t.Run("BRG-6 sessions of the machine's boot before have ended", func(t *testing.T) {
		o := options(t)
		r := record(1)
		r.BootID = "00000000-0000-0000-0000-000000000000"
		leave(t, o.spoolDir(), r)
		start(t, o)
		if e := oneOf(t, o, journal.KindEnd, r); e.Reason != lostBoot {
			t.Errorf("end %+v", e)
		}
	})
	t.Run("BRG-3 the runtime's PID file names the process, if the process has the mark", func(t *testing.T) {
		o := options(t)
		pidFile := filepath.Join(o.HostRoot, "e.pid")
		r := record(1)
		r.Where.PIDFile = "/e.pid"
		must(t, os.WriteFile(pidFile, []byte("1"), 0o600)) // not the session's
		start(t, o)
		// No cgroup tells it, as under a runtime of which we know nothing.
		c := wrapper(t, wrapping{Spool: o.spoolDir(), Record: r, Argv: []string{"/bin/sh", "-c", "echo $$ > " + pidFile + "; exec sleep 1000"}})
		must(t, c.Start())
		t.Cleanup(func() { _ = c.Process.Kill(); _ = c.Wait() })
		if s := oneOf(t, o, journal.KindStart, r); s.PID != c.Process.Pid {
			t.Errorf("start %+v of %d", s, c.Process.Pid)
		}
	})
	t.Run("BRG-3 what a session leaves behind is said where nobody saw its first process", func(t *testing.T) {
		o := options(t)
		r := record(1)
		left := filepath.Join(t.TempDir(), "pid")
		// The shell ends at once; the child, adopted by the init of its PID namespace, has the mark and goes on.
		c := wrapper(t, wrapping{Spool: o.spoolDir(), Record: r, Cgroup: cgroup(t, r.Where.ContainerID), Argv: []string{
			"/bin/sh", "-c", "setsid sleep 1000 & echo $! > " + left,
		}})
		must(t, c.Run())
		text, err := os.ReadFile(left)
		must(t, err)
		pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
		must(t, err)
		t.Cleanup(func() { _ = syscall.Kill(pid, syscall.SIGKILL) })
		start(t, o)
		// In the host's PID namespace nothing tells it from the first process: see proc.First.
		if s := oneOf(t, o, journal.KindStart, r); s.PID != pid {
			t.Errorf("start %+v, want %d", s, pid)
		}
	})
}

// bundle makes a container's bundle whose programs are this machine's.
func bundle(t *testing.T, id string) string {
	t.Helper()
	dir := t.TempDir()
	mounts := []map[string]any{
		{"destination": "/proc", "type": "proc", "source": "proc"},
		{"destination": "/dev", "type": "tmpfs", "source": "tmpfs", "options": []string{"size=64k"}},
	}
	for _, dir := range []string{"/bin", "/lib", "/lib64", "/usr"} {
		if real, err := filepath.EvalSymlinks(dir); err == nil {
			mounts = append(mounts, map[string]any{"destination": dir, "type": "bind", "source": real, "options": []string{"rbind", "ro"}})
		}
	}
	config, err := json.Marshal(map[string]any{
		"ociVersion": "1.0.2", "hostname": "c", "root": map[string]any{"path": "rootfs"}, "mounts": mounts,
		"process": map[string]any{"cwd": "/", "args": []string{"sleep", "100000"}, "env": []string{"PATH=/usr/bin:/bin"}, "user": map[string]any{"uid": 0, "gid": 0}},
		"linux": map[string]any{
			"cgroupsPath": "/" + id,
			"namespaces":  []map[string]any{{"type": "pid"}, {"type": "mount"}, {"type": "ipc"}, {"type": "uts"}},
		},
	})
	must(t, err)
	for _, name := range []string{"proc", "dev", "sys"} {
		must(t, os.MkdirAll(filepath.Join(dir, "rootfs", name), 0o755))
	}
	must(t, os.WriteFile(filepath.Join(dir, "config.json"), config, 0o600))
	return dir
}

// built returns a program of .build/bin.
func built(t *testing.T, name string) string {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("only root runs containers and sets login UIDs")
	}
	dir := os.Getenv("LANYARD_BIN")
	if dir == "" {
		dir = filepath.Join("..", "..", "..", "..", "..", "..", ".build", "bin")
	}
	path, err := filepath.Abs(filepath.Join(dir, name))
	must(t, err)
	if err := exec.Command(path, "--version").Run(); err != nil {
		t.Skipf("the tests run with real runtimes, in $LANYARD_BIN or .build/bin: %v", err)
	}
	return path
}

// engine is a container, and sessions in it as an engine begins them.
type engine struct {
	o       Options
	log     *os.File
	command []string // the runtime's, up to exec
	id      string
	n       int
}

// container starts one under a runtime of .build/bin.
func container(t *testing.T, name string) *engine {
	t.Helper()
	t.Setenv("LD_LIBRARY_PATH", filepath.Join(filepath.Dir(built(t, "runc")), "debian"))
	command := []string{built(t, name), "--root", t.TempDir()}
	if filepath.Base(name) == "crun" { // refuses cgroup2 beside cgroup1
		shell, err := exec.LookPath("unshare")
		must(t, err)
		command = append([]string{
			shell, "--mount", "--propagation", "private", "sh", "-c", `umount -l /sys/fs/cgroup/unified 2>/dev/null; exec "$@"`, "sh",
		}, command...)
	}
	log, err := os.Create(filepath.Join(t.TempDir(), "log"))
	must(t, err)
	e := &engine{
		o: options(t), log: log, command: command,
		id: fmt.Sprintf("lanyardtest%d-%s", os.Getpid(), filepath.Base(name)),
	}
	run := e.call("run", "--detach", "--bundle", bundle(t, e.id), e.id)
	run.Stdout, run.Stderr = log, log
	if err := run.Run(); err != nil {
		text, _ := os.ReadFile(log.Name())
		t.Fatalf("run: %v: %s", err, text)
	}
	t.Cleanup(func() {
		if out, err := e.call("delete", "--force", e.id).CombinedOutput(); err != nil {
			t.Errorf("delete: %v: %s", err, out)
		}
		must(t, log.Close())
	})
	start(t, e.o)
	return e
}

func (e *engine) call(args ...string) *exec.Cmd {
	return exec.Command(e.command[0], append(slices.Clone(e.command[1:]), args...)...)
}

func (e *engine) exec(t *testing.T, r func(*spool.Record), args ...string) (spool.Record, *exec.Cmd) {
	e.n++
	rec := record(e.n)
	rec.Where.ContainerID = e.id
	if r != nil {
		r(&rec)
	}
	c := wrapper(t, wrapping{Spool: e.o.spoolDir(), Record: rec, Argv: append(append(slices.Clone(e.command), "exec"), args...)})
	c.Stdout, c.Stderr = e.log, e.log
	return rec, c
}

// checkLeft wants the session to go on with a process that the runtime left to its parent, and ends it.
func (e *engine) checkLeft(t *testing.T, r spool.Record) {
	t.Helper()
	s := oneOf(t, e.o, journal.KindStart, r)
	// It has the PID before it executes its program.
	eventually(t, "the first process is the session's program", func() bool {
		argv, err := host.Argv(s.PID)
		must(t, err)
		return len(argv) > 0 && argv[0] == "sleep"
	})
	session, login, err := host.Mark(s.PID)
	if err != nil || session != s.SessionID || login != s.LoginUID {
		t.Errorf("mark %d, %d, %v; start %+v", session, login, err, s)
	}
	must(t, syscall.Kill(s.PID, syscall.SIGKILL))
	if end := oneOf(t, e.o, journal.KindEnd, r); end.PID != s.PID || end.ExitCode != nil && *end.ExitCode != 137 {
		t.Errorf("end %+v", end)
	}
}

func TestRuntimes(t *testing.T) {
	for _, name := range []string{"runc", "debian/runc", "debian/crun"} {
		t.Run(name, func(t *testing.T) {
			e := container(t, name)
			t.Run("BRG-3 a session by the runtime's PID file", func(t *testing.T) {
				pidFile := filepath.Join(e.o.HostRoot, "exec.pid")
				r, c := e.exec(t, func(r *spool.Record) { r.Where.PIDFile = "/exec.pid" }, "--detach", "--pid-file", pidFile, e.id, "sleep", "1000")
				must(t, c.Run())
				e.checkLeft(t, r)
			})
			t.Run("BRG-3 a session that the runtime leaves to its parent", func(t *testing.T) {
				r, c := e.exec(t, nil, "--detach", e.id, "sleep", "1000")
				must(t, c.Run())
				e.checkLeft(t, r)
			})
			t.Run("BRG-3 a session that the runtime stays with", func(t *testing.T) {
				r, c := e.exec(t, nil, e.id, "sh", "-c", "read x; exit 5")
				in, err := c.StdinPipe()
				must(t, err)
				must(t, c.Start())
				s := oneOf(t, e.o, journal.KindStart, r)
				eventually(t, "the first process is the session's program", func() bool {
					task, err := host.Task(s.PID)
					must(t, err)
					return task.Command == "sh" && s.PID != c.Process.Pid
				})
				fmt.Fprintln(in)
				_ = c.Wait()
				if end := oneOf(t, e.o, journal.KindEnd, r); end.ExitCode == nil || *end.ExitCode != 5 {
					t.Errorf("end %+v", end)
				}
			})
			t.Run("BRG-3 a process that it leaves behind is not its first", func(t *testing.T) {
				r, c := e.exec(t, nil, "--detach", e.id, "sh", "-c", "setsid sleep 1000 & exit 3")
				must(t, c.Run())
				end := oneOf(t, e.o, journal.KindEnd, r)
				if end.PID == 0 && end.Reason != lostLeft && end.Reason != lostUnseen || end.PID > 0 && (end.ExitCode == nil || *end.ExitCode != 3) {
					t.Errorf("end %+v", end)
				}
				found, err := host.Sessions(func(s uint32) bool { return s == end.SessionID })
				left := slices.DeleteFunc(found[end.SessionID], func(pid int) bool {
					task, err := host.Task(pid)
					return err != nil || task.Zombie
				})
				if err != nil || len(left) != 1 {
					t.Errorf("processes of the session: %v, %v, want one", left, err)
				}
			})
			t.Run("BRG-3 short ones and ones that cannot start each have one end", func(t *testing.T) {
				var all []spool.Record
				for i := range 20 {
					args := []string{e.id, "sh", "-c", "exit 0"}
					if i%4 == 0 {
						args[3] = "sleep 0.01"
					}
					if i%2 == 0 {
						args = append([]string{"--detach"}, args...)
					}
					if i%5 == 0 {
						args = []string{e.id, "/no/such/program"}
					}
					r, c := e.exec(t, nil, args...)
					if err := c.Run(); (err != nil) != (i%5 == 0) {
						t.Errorf("%q: %v", args, err)
					}
					all = append(all, r)
				}
				seen := 0
				for _, r := range all {
					if end := oneOf(t, e.o, journal.KindEnd, r); end.PID > 0 {
						seen++
					}
					if s := of(records(t, e.o.journalFile()), journal.KindStart, r.Session.String()); len(s) > 1 {
						t.Errorf("%d starts", len(s))
					}
				}
				t.Logf("%d of %d were seen", seen, len(all))
			})
		})
	}
}

func BenchmarkLook(b *testing.B) {
	b.Logf("%d processes", processes())
	for b.Loop() {
		if _, err := host.Sessions(func(uint32) bool { return false }); err != nil {
			b.Fatal(err)
		}
	}
}

func processes() int {
	names, _ := filepath.Glob("/proc/[1-9]*")
	return len(names)
}
