package proc

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/lanyard-dev/lanyard/execaudit/agent"
)

const statLine = "4711 (a (b) c) S 1 4711 4711 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 3 0 123456 9 10"

func TestParseStat(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		want Stat
	}{
		"a name with parentheses": {statLine, Stat{Start: 1234560 * time.Millisecond, Threads: 3}},
		"a first thread that ended": {
			strings.Replace(statLine, ") S ", ") Z ", 1), Stat{Start: 1234560 * time.Millisecond, Threads: 3, Ended: true},
		},
		"about to exit": {
			strings.Replace(statLine, "4194560", "4", 1), Stat{Start: 1234560 * time.Millisecond, Threads: 3, Exiting: true},
		},
	} {
		t.Run("AGT-4 "+name, func(t *testing.T) {
			if got, err := parseStat([]byte(c.text)); err != nil || got != c.want {
				t.Errorf("parseStat = %+v, %v, want %+v", got, err, c.want)
			}
		})
	}
}

func FuzzParseStat(f *testing.F) {
	f.Add([]byte(statLine))
	f.Add([]byte(") ) )"))
	f.Fuzz(func(t *testing.T, text []byte) {
		if s, err := parseStat(text); err == nil && s.Start < 0 {
			t.Errorf("parseStat(%q) = %+v", text, s)
		}
	})
}

func FuzzTexts(f *testing.F) {
	f.Add([]byte("8:pids:/a\n0::/b\n"))
	f.Add([]byte("Uid:\t1\t2\t3\t4\nNSpid:\t7\t1\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		var o agent.Observation
		if status(text, &o); o.InnerPID < 0 && !strings.Contains(string(text), "-") {
			t.Errorf("status(%q) gave %+v", text, o)
		}
		if got := cgroup(text); !strings.Contains(string(text), got) {
			t.Errorf("cgroup(%q) = %q", text, got)
		}
	})
}

func TestCgroup(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"v2":                         {"0::/kubepods.slice/x\n", "/kubepods.slice/x"},
		"the pids hierarchy":         {"9:memory:/m\n8:pids:/p\n0::/\n", "/p"},
		"else that of memory":        {"9:cpu,memory:/m\n0::/x\n", "/m"},
		"a path with colons":         {"0::/a:b:/c\n", "/a:b:/c"},
		"a named hierarchy is not":   {"1:name=systemd:/s\n", ""},
		"controllers' names, whole":  {"3:pidsx:/s\n", ""},
		"an end of the path is kept": {"0::/a \n", "/a "},
	} {
		t.Run("AGT-3 "+name, func(t *testing.T) {
			if got := cgroup([]byte(c.text)); got != c.want {
				t.Errorf("cgroup = %q, want %q", got, c.want)
			}
		})
	}
}

// fake is a process's directory of files.
func fake(t *testing.T, files map[string]string) *FS {
	t.Helper()
	root := t.TempDir()
	for name, text := range files {
		path := filepath.Join(root, "4711", name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if target, link := strings.CutPrefix(text, "-> "); link {
			if err := os.Symlink(target, path); err != nil {
				t.Fatal(err)
			}
		} else if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return New(Options{Root: root, ArgBytes: 8, EnvBytes: 8})
}

// files are of a process in a container.
func files(login string) map[string]string {
	return map[string]string{
		"loginuid": login, "sessionid": "7", "stat": statLine, "cgroup": "0::/c\n",
		"status": "Name:\tx\nUid:\t1\t2\t3\t4\nGid:\t5\t6\t7\t8\nNSpid:\t4711\t12\t3\n", "exe": "-> /bin/sh",
		"cmdline": "sh\x00-c\x00id\x00", "environ": "A=B\x00C=D\x00", "ns/mnt": "-> mnt:[11]", "ns/pid": "-> pid:[12]",
	}
}

func TestIdentify(t *testing.T) {
	marked := strconv.Itoa(agent.MinLoginUID)
	t.Run("AGT-4 a process of a session, as /proc has it", func(t *testing.T) {
		p, err := fake(t, files(marked)).Open(4711)
		if err != nil {
			t.Fatal(err)
		}
		defer p.Close()
		var o agent.Observation
		if err := p.Identify(&o); err != nil {
			t.Fatal(err)
		}
		p.Program(&o)
		args, env := string(o.Args.Reveal()), string(o.Env.Reveal())
		if args != "sh\x00-c\x00id" || !o.ArgsCut || env != "A=B\x00C=D\x00" {
			t.Errorf("arguments %q, cut %v, environment %q", args, o.ArgsCut, env)
		}
		task := agent.Task{PID: 4711, Start: 1234560 * time.Millisecond}
		if o.Task != task || o.SessionID != 7 || o.LoginUID != agent.MinLoginUID || o.InnerPID != 3 ||
			o.Cgroup != "/c" || o.MountNS != 11 || o.PIDNS != 12 || o.UID != 1 || o.EUID != 2 || o.GID != 5 ||
			o.EGID != 6 || o.File != "/bin/sh" {
			t.Errorf("told %+v", o)
		}
	})
	t.Run("AGT-4 the group of one that exits is unknown", func(t *testing.T) {
		ends := files(marked)
		ends["stat"] = strings.Replace(statLine, "4194560", "4194564", 1)
		p, err := fake(t, ends).Open(4711)
		if err != nil {
			t.Fatal(err)
		}
		defer p.Close()
		var o agent.Observation
		if err := p.Identify(&o); err != nil || o.Cgroup != "" {
			t.Errorf("group %q, %v", o.Cgroup, err)
		}
	})
	for name, login := range map[string]string{
		"no mark": "4294967295", "one below the range": "2013265919", "one above it": "2147483647", "a person's": "1000",
	} {
		t.Run("AGT-1 "+name, func(t *testing.T) {
			fs := fake(t, files(login))
			p, err := fs.Open(4711)
			if err != nil {
				t.Fatal(err)
			}
			defer p.Close()
			var o agent.Observation
			if err := p.Identify(&o); !errors.Is(err, ErrUnmarked) {
				t.Errorf("Identify = %v, want %v", err, ErrUnmarked)
			}
			if err := fs.Walk(func(Process) { t.Error("found") }); err != nil {
				t.Error(err)
			}
		})
	}
	t.Run("AGT-1 a walk finds those of the range", func(t *testing.T) {
		found := 0
		if err := fake(t, files(marked)).Walk(func(Process) { found++ }); err != nil || found != 1 {
			t.Errorf("found %d, %v", found, err)
		}
	})
	t.Run("ATT-2 AGT-4 nothing of another process that has the PID by now", func(t *testing.T) {
		cmd := exec.Command("cat")
		in, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		p, err := New(Options{MaxLoginUID: Unset}).Open(cmd.Process.Pid)
		if err != nil {
			t.Fatal(err)
		}
		defer p.Close()
		if _, err := p.Stat(); err != nil {
			t.Error(err)
		}
		if err := errors.Join(in.Close(), cmd.Wait()); err != nil {
			t.Fatal(err)
		}
		var o agent.Observation
		if err := p.Identify(&o); err == nil || errors.Is(err, ErrUnmarked) {
			t.Errorf("Identify = %v of a process that is gone", err)
		}
		if p.Program(&o); !o.Args.IsEmpty() || o.File != "" {
			t.Errorf("told %+v", o)
		}
	})
	t.Run("AGT-4 no such process", func(t *testing.T) {
		if _, err := New(Options{Root: t.TempDir()}).Open(1); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("Open = %v, want %v", err, os.ErrNotExist)
		}
	})
}
