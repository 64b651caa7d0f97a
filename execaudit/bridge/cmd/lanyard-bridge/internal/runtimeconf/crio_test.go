package runtimeconf_test

import (
	"errors"
	"testing"

	"github.com/lanyard-dev/lanyard/execaudit/bridge/cmd/lanyard-bridge/internal/runtimeconf"
)

const crioRunning = `[crio.runtime]
default_runtime = "crun"
[crio.runtime.runtimes.crun]
runtime_path = "/usr/libexec/crio/crun"
runtime_type = ""
monitor_path = "/usr/libexec/crio/conmon"
allowed_annotations = ["io.containers.trace-syscall"]
[crio.runtime.runtimes.kata]
runtime_path = "/usr/bin/containerd-shim-kata-v2"
runtime_type = "vm"
`

func TestCRIO(t *testing.T) {
	c := runtimeconf.CRIO{Path: "/c/crio.conf.d/99-lanyard.conf", Running: []byte(crioRunning)}
	t.Run("BRG-9 the whole table goes into a file of our own, since CRI-O replaces it", func(t *testing.T) {
		patches, err := c.Plan(runtimeconf.Change{Handler: "crun", Binary: "/w"})
		want := `# lanyard-bridge: begin "crun"
[crio.runtime.runtimes.crun]
allowed_annotations = ['io.containers.trace-syscall']
monitor_path = '/usr/libexec/crio/conmon'
runtime_path = '/w'
runtime_type = ''
# lanyard-bridge: end "crun"
`
		if err != nil || len(patches) != 1 || string(patches[0].After) != want || !patches[0].Create || patches[0].Path != c.Path {
			t.Fatalf("Plan(…) = %s, %v, want %s", patches[0].After, err, want)
		}
	})
	t.Run("BRG-9 a virtual machine's handler is refused", func(t *testing.T) {
		if _, err := c.Plan(runtimeconf.Change{Handler: "kata", Binary: "/w"}); !errors.Is(err, runtimeconf.ErrRuntime) {
			t.Errorf("Plan(…) = %v", err)
		}
	})
	t.Run("BRG-9 a file that is read after ours and has the handler is refused by its name", func(t *testing.T) {
		for text, want := range map[string]error{crioRunning: runtimeconf.ErrForm, "[crio]\n": nil} {
			late := c
			late.Files = []runtimeconf.File{{Path: "/c/crio.conf.d/zz.conf", Text: []byte(text)}}
			if _, err := late.Plan(runtimeconf.Change{Handler: "crun", Binary: "/w"}); !errors.Is(err, want) {
				t.Errorf("Plan(…) = %v, want %v", err, want)
			}
		}
	})
}

func TestCompare(t *testing.T) {
	const before = "oom_score = 1\n[plugins.'io.containerd.cri.v1.runtime'.containerd.runtimes.runc]\nruntime_type = 'a'\n"
	changed := map[string]string{"runc": "/w"}
	for _, c := range []struct {
		name, after string
		want        error
	}{
		{"the change alone is accepted", before + "options.BinaryName = '/w'\n", nil},
		{"another setting is told", "oom_score = 2\n" + before[14:] + "options.BinaryName = '/w'\n", runtimeconf.ErrForm},
		{"a change that was not read is told", before, runtimeconf.ErrForm},
		{"another key of the handler is told", before + "runtime_path = '/x'\noptions.BinaryName = '/w'\n", runtimeconf.ErrForm},
		{"a lost handler is told", before[:14], runtimeconf.ErrForm},
	} {
		t.Run("BRG-9 "+c.name, func(t *testing.T) {
			if err := runtimeconf.Compare([]byte(before), []byte(c.after), changed); !errors.Is(err, c.want) {
				t.Errorf("Compare(…) = %v, want %v", err, c.want)
			}
		})
	}
}
