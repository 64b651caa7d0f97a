package source_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/lanyard-dev/lanyard/execaudit/agent"
	"github.com/lanyard-dev/lanyard/execaudit/agent/source"
	"github.com/lanyard-dev/lanyard/execaudit/journal"
)

func TestCgroups(t *testing.T) {
	for name, hierarchy := range map[string]string{"version 2": "", "version 1": "pids"} {
		t.Run("AGT-3 a cgroup's container is found by its ID where the process is gone, "+name, func(t *testing.T) {
			root := t.TempDir()
			container := filepath.Join(root, hierarchy, "kubepods", "burstable", "pod11111111-2222-3333-4444-555555555555", inA)
			if err := errors.Join(os.MkdirAll(container, 0o700), os.WriteFile(filepath.Join(root, hierarchy, "cgroup.procs"),
				nil, 0o600)); err != nil {
				t.Fatal(err)
			}
			info, err := os.Stat(container)
			if err != nil {
				t.Fatal(err)
			}
			o := observation(agent.KindExec, 7, 1<<22+5) // more than any PID
			o.Cgroup, o.CgroupID = "", info.Sys().(*syscall.Stat_t).Ino
			unknown := o
			unknown.CgroupID = 1
			out := &kept{}
			replay(t, source.Options{CgroupRoot: root, Outputs: []source.Output{out}}, []agent.Observation{o, unknown},
				[]journal.Record{marked("e1", 7)})
			if text := out.text(); strings.Count(text, `"containerID":"`+inA+`","namespace"`) != 2+2 {
				t.Errorf("lines\n%s", text)
			}
		})
	}
	t.Run("AGT-3 the names of a container that no record names are those of the kubelet's log", func(t *testing.T) {
		logs := t.TempDir()
		for _, name := range []string{"web-0_shop_app-" + inA + ".log", "web-0_shop_other-" + strings.Repeat("b", 64) + ".log", "x"} {
			if err := os.WriteFile(filepath.Join(logs, name), nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		out := &kept{}
		o := observation(agent.KindExec, 7, 12)
		o.Cgroup = "/kubepods/burstable/pod11111111-2222-3333-4444-555555555555/" + inA
		replay(t, source.Options{Logs: logs, Outputs: []source.Output{out}}, []agent.Observation{o}, nil)
		const names = `"namespace":"shop","pod":"web-0","podUID":"11111111-2222-3333-4444-555555555555","container":"app"`
		if text := out.text(); !strings.Contains(text, names) {
			t.Errorf("lines\n%s", text)
		}
	})
	t.Run("AGT-3 the cgroup of a process that is there", func(t *testing.T) {
		text, err := os.ReadFile("/proc/self/cgroup")
		if errors.Is(err, fs.ErrNotExist) {
			t.Skip("no /proc")
		}
		if err != nil || len(text) == 0 {
			t.Fatal(err)
		}
		root := "/sys/fs/cgroup"
		if _, err := os.Stat(filepath.Join(root, "pids", "cgroup.procs")); err == nil {
			root = filepath.Join(root, "pids")
		}
		info, err := os.Stat(root)
		if err != nil {
			t.Skip(err)
		}
		o := observation(agent.KindExec, 7, os.Getpid())
		o.Cgroup, o.CgroupID = "", info.Sys().(*syscall.Stat_t).Ino
		out := &kept{}
		replay(t, source.Options{Outputs: []source.Output{out}}, []agent.Observation{o}, []journal.Record{marked("e1", 7)})
		if text := out.text(); strings.Contains(text, `"containerID":"`+inA+`","namespace"`) && !strings.Contains(text,
			`"session":{`) {
			t.Errorf("lines\n%s", text)
		}
	})
}
