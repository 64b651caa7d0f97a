//go:build linux && (amd64 || arm64)

package bpf_test

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/lanyard-dev/lanyard/execaudit/agent"
	"github.com/lanyard-dev/lanyard/execaudit/agent/bpf"
	"github.com/lanyard-dev/lanyard/execaudit/agent/internal/theatre"
)

func zeroed(texts ...string) string { return strings.Join(texts, "\x00") + "\x00" }

func TestStrings(t *testing.T) {
	long := strings.Repeat("x", 100_000)
	script := filepath.Join(t.TempDir(), "script")
	if err := os.WriteFile(script, []byte("#!/bin/sh -e\n:\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	deep := filepath.Join(t.TempDir(), strings.Repeat("d/", 500))
	if err := os.MkdirAll(deep, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/bin/true", filepath.Join(deep, "true")); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name       string
		options    bpf.Options
		role       string
		args       []string
		file, want string
		cut        bool
	}{
		{
			name: "arguments are told as they are", args: []string{"/bin/true", "", "a b", "\xff\n", ""},
			file: "/bin/true", want: zeroed("/bin/true", "", "a b", "\xff\n", ""),
		},
		{
			name: "arguments are cut at the bound", args: []string{"/bin/true", long}, cut: true,
			file: "/bin/true", want: zeroed("/bin/true") + long[:bpf.DefaultArgBytes-len("/bin/true")-1],
		},
		{
			name: "arguments that just fit are not cut", options: bpf.Options{ArgBytes: 20},
			args: []string{"/bin/true", "123456789"}, file: "/bin/true", want: zeroed("/bin/true", "123456789"),
		},
		{
			name: "arguments that just do not fit are cut", options: bpf.Options{ArgBytes: 20}, cut: true,
			args: []string{"/bin/true", "1234567890"}, file: "/bin/true", want: zeroed("/bin/true") + "1234567890",
		},
		{
			name: "the bound can be large", options: bpf.Options{ArgBytes: bpf.MaxStringBytes, EnvBytes: bpf.MaxStringBytes},
			args: []string{"/bin/true", long}, cut: true,
			file: "/bin/true", want: zeroed("/bin/true") + long[:bpf.MaxStringBytes-len("/bin/true")-1],
		},
		{
			name: "arguments can be left out", options: bpf.Options{ArgBytes: -1}, cut: true,
			args: []string{"/bin/true"}, file: "/bin/true",
		},
		{
			name: "a script has its interpreter's arguments", args: []string{script, "one"},
			file: script, want: zeroed("/bin/sh", "-e", script, "one"),
		},
		{
			name: "a long path is told", args: []string{filepath.Join(deep, "true")},
			file: filepath.Join(deep, "true"), want: zeroed(filepath.Join(deep, "true")),
		},
		{
			name: "no arguments at all", role: "bare", file: "/bin/true", want: zeroed(""), // the kernel adds one since 5.18
		},
	} {
		for _, kind := range kinds[:2] {
			t.Run("AGT-1 "+c.name+kind.name, func(t *testing.T) {
				c.options.Raw = kind.raw
				w := load(t, c.options)
				cmd := w.command(c.args...)
				if c.role != "" {
					cmd = w.play(c.role, "")
				}
				got := execs(w.run(cmd))
				if len(got) != 1 {
					t.Fatalf("%d execs, want 1: %+v", len(got), got)
				}
				o := got[0]
				if args := string(o.Args.Reveal()); o.File != c.file || args != c.want || o.ArgsCut != c.cut {
					t.Errorf("told %.80q, %d bytes of arguments %.80q, cut %v, want %.80q, %d, %.80q, %v",
						o.File, len(args), args, o.ArgsCut, c.file, len(c.want), c.want, c.cut)
				}
			})
		}
	}
}

func TestEnvironment(t *testing.T) {
	run := func(t *testing.T, o bpf.Options, env ...string) string {
		t.Helper()
		w := load(t, o)
		cmd := w.command(slices.Concat([]string{"/usr/bin/env", "-i"}, env, []string{"/bin/true"})...)
		got := execs(w.run(cmd))
		if len(got) != 2 {
			t.Fatalf("%d execs, want 2: %+v", len(got), got)
		}
		return string(got[1].Env.Reveal())
	}
	huge := "HUGE=" + strings.Repeat("y", 120_000)
	t.Run("AGT-1 the environment's variables are told", func(t *testing.T) {
		want := zeroed("A=1", "KUBERNETES_EXEC_AUDIT_ID=x")
		if got := run(t, bpf.Options{}, "A=1", "KUBERNETES_EXEC_AUDIT_ID=x"); got != want {
			t.Errorf("environment is %q, want %q", got, want)
		}
	})
	t.Run("AGT-1 a huge environment is cut at the bound", func(t *testing.T) {
		if got, want := run(t, bpf.Options{}, "A=1", huge), (zeroed("A=1") + huge)[:bpf.DefaultEnvBytes]; got != want {
			t.Errorf("environment has %d bytes, want %d", len(got), len(want))
		}
	})
	t.Run("AGT-1 no environment", func(t *testing.T) {
		if got := run(t, bpf.Options{}); got != "" {
			t.Errorf("environment is %q", got)
		}
	})
	t.Run("AGT-1 the environment can be left out", func(t *testing.T) {
		if got := run(t, bpf.Options{EnvBytes: -1}, "A=1"); got != "" {
			t.Errorf("environment is %q", got)
		}
	})
}

// held starts a marked process that lives until it is released, and returns what was told of the last of so many execs,
// which may be a descendant's.
func held(t *testing.T, w *watched, cmd *exec.Cmd, execs int) (o agent.Observation, release func()) {
	t.Helper()
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	release = func() {
		_ = in.Close()
		if err := cmd.Wait(); err != nil {
			t.Error(err)
		}
	}
	w.SetDeadline(time.Now().Add(patience))
	for n := 0; n < execs; {
		if o, err = w.next(); err != nil {
			release()
			t.Fatal(err)
		}
		if o.Kind == agent.KindExec {
			n++
		}
	}
	return o, release
}

func inode(t *testing.T, path string) uint64 {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return info.Sys().(*syscall.Stat_t).Ino
}

func TestIdentity(t *testing.T) {
	for _, kind := range kinds[:2] {
		t.Run("AGT-1 PID, start, namespaces and cgroup are those that /proc shows"+kind.name, func(t *testing.T) {
			w := load(t, bpf.Options{Raw: kind.raw})
			container := theatre.NewContainer(t)
			cmd := w.command("/bin/sh", "-c", `for d in $DIRS; do echo $$ > $d/cgroup.procs || exit 1; done; exec /bin/cat`)
			cmd.Env = append(cmd.Env, "DIRS="+strings.Join(container.Directories, " "))
			cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS}
			o, release := held(t, w, cmd, 2)
			defer release()
			proc := fmt.Sprintf("/proc/%d/", o.PID)
			stat, err := os.ReadFile(proc + "stat")
			if err != nil {
				t.Fatal(err)
			}
			fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+2:]))
			if got := fmt.Sprint(int64(o.Start / (10 * time.Millisecond))); got != fields[19] {
				t.Errorf("start is %s ticks, want %s", got, fields[19])
			}
			if o.PID != cmd.Process.Pid || o.InnerPID != o.PID {
				t.Errorf("PIDs are %d and %d, want %d", o.PID, o.InnerPID, cmd.Process.Pid)
			}
			if want := inode(t, proc+"ns/mnt"); uint64(o.MountNS) != want || want == inode(t, "/proc/self/ns/mnt") {
				t.Errorf("mount namespace is %d, want %d", o.MountNS, want)
			}
			if want := inode(t, proc+"ns/pid"); uint64(o.PIDNS) != want {
				t.Errorf("PID namespace is %d, want %d", o.PIDNS, want)
			}
			if want := cgroupOf(t, container); o.CgroupID != want {
				t.Errorf("cgroup is %d, want %d", o.CgroupID, want)
			}
			session, err := os.ReadFile(proc + "sessionid")
			if err != nil || string(session) != fmt.Sprint(o.SessionID) {
				t.Errorf("session is %d, want %s, %v", o.SessionID, session, err)
			}
		})
		t.Run("AGT-1 credentials are the real and the effective"+kind.name, func(t *testing.T) {
			w := load(t, bpf.Options{Raw: kind.raw})
			got := execs(w.run(w.play("owned", "", "/bin/true")))
			if len(got) != 1 {
				t.Fatalf("%d execs", len(got))
			}
			ids := []uint32{got[0].UID, got[0].EUID, got[0].GID, got[0].EGID}
			if !slices.Equal(ids, []uint32{1001, 1002, 2001, 2002}) {
				t.Errorf("UIDs and GIDs are %d", ids)
			}
		})
		for depth, inner := range map[int]bool{1: true, 3: true, 7: true, 9: kind.raw} {
			t.Run(fmt.Sprintf("AGT-1 the PID inside %d namespaces%s", depth, kind.name), func(t *testing.T) {
				w := load(t, bpf.Options{Raw: kind.raw})
				unshare, err := exec.LookPath("unshare")
				if err != nil {
					t.Skip(err)
				}
				args := slices.Repeat([]string{unshare, "--pid", "--fork"}, depth)
				o, release := held(t, w, w.command(append(args, "/bin/cat")...), depth+1)
				defer release()
				status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", o.PID))
				if err != nil {
					t.Fatal(err)
				}
				_, line, _ := strings.Cut(string(status), "NSpid:")
				line, _, _ = strings.Cut(line, "\n")
				want, namespace := strings.Fields(line)[depth], inode(t, fmt.Sprintf("/proc/%d/ns/pid", o.PID))
				if !inner { // deeper than the programs look: said to be unknown
					want, namespace = "0", 0
				}
				if fmt.Sprint(o.InnerPID) != want || uint64(o.PIDNS) != namespace {
					t.Errorf("inner PID %d in %d, want %s in %d", o.InnerPID, o.PIDNS, want, namespace)
				}
			})
		}
	}
	t.Run("AGT-1 the cgroup of version 2 where no controller is elsewhere", func(t *testing.T) {
		w := loadBy(t, bpf.LoadUnified, bpf.Options{})
		container := theatre.NewContainer(t)
		for _, dir := range container.Directories {
			if _, err := os.Stat(filepath.Join(dir, "cgroup.controllers")); err != nil {
				continue
			}
			group, err := os.Open(dir)
			if err != nil {
				t.Fatal(err)
			}
			defer group.Close()
			cmd := w.command("/bin/true")
			cmd.SysProcAttr = &syscall.SysProcAttr{UseCgroupFD: true, CgroupFD: int(group.Fd())}
			for _, o := range w.run(cmd) {
				if want := inode(t, dir); o.CgroupID != want {
					t.Errorf("cgroup is %d, want %d", o.CgroupID, want)
				}
			}
			return
		}
		t.Skip("no cgroup v2")
	})
}

// cgroupOf returns the ID of the container's directory in the pids hierarchy, or of that of version 2.
func cgroupOf(t *testing.T, c *theatre.Container) uint64 {
	t.Helper()
	for _, dir := range c.Directories {
		if strings.HasPrefix(dir, "/sys/fs/cgroup/pids/") {
			return inode(t, dir)
		}
	}
	return inode(t, c.Directories[len(c.Directories)-1])
}

func TestStatus(t *testing.T) {
	for script, want := range map[string]syscall.WaitStatus{"exit 7": 7 << 8, "kill -9 $$": 9, "kill -15 $$": 15, ":": 0} {
		t.Run("AGT-1 an exit's status is that of wait, of "+script, func(t *testing.T) {
			w := load(t, bpf.Options{})
			cmd := w.command("/bin/sh", "-c", script)
			cmd.Stdout = io.Discard
			_ = cmd.Run()
			if got := cmd.ProcessState.Sys().(syscall.WaitStatus); got != want {
				t.Fatalf("wait gave %#x, want %#x", got, want)
			}
			all := w.drain()
			if last := all[len(all)-1]; last.Kind != agent.KindExit || last.Status != int(want) {
				t.Errorf("told %+v, want status %#x", last, want)
			}
		})
	}
}
