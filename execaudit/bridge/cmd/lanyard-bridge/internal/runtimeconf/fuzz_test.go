package runtimeconf_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"testing"

	"github.com/lanyard-dev/lanyard/execaudit/bridge/cmd/lanyard-bridge/internal/runtimeconf"
)

var seeds = []string{
	"", "version = 2", "version = 2\r\n", "imports = [\"/etc/containerd/conf.d/*.toml\"]\nversion = 3\n", options + "\nBinaryName = \"runc\"\n",
	options + "# x\n[[plugins.x]]\na = {b = 'c'}\n", "[plugins]\n['plugins'.\"io.containerd.grpc.v1.cri\".containerd.runtimes.runc.options]\n\t\"BinaryName\"='''a'''#",
	"a = 1979-05-27T07:32:00Z\nb = inf\nc = nan\n", "plugins.\"io.containerd.grpc.v1.cri\".containerd.runtimes.runc.options.BinaryName = 'a'",
}

// FuzzSetString: an edit is refused, or taken back byte for byte.
func FuzzSetString(f *testing.F) {
	for _, s := range seeds {
		f.Add([]byte(s), "runc", "/opt/lanyard/bin/lanyard-oci-runc")
	}
	f.Add([]byte("x=1"), "a \"b\"\n", "\x00\xff")
	f.Fuzz(func(t *testing.T, text []byte, handler, value string) {
		path := []string{"plugins", "io.containerd.grpc.v1.cri", "containerd", "runtimes", handler, "options", "BinaryName"}
		patch, err := runtimeconf.SetString("f", text, handler, path, value)
		if err != nil {
			return
		}
		undone(t, patch, text)
	})
}

// FuzzPlan: the same for plans of both runtimes.
func FuzzPlan(f *testing.F) {
	for _, s := range seeds {
		f.Add([]byte(s), []byte("version = 3"), 2)
		f.Add([]byte("version = 2"), []byte(s), 1)
	}
	f.Fuzz(func(t *testing.T, main, imported []byte, major int) {
		c := runtimeconf.Containerd{Major: 1 + major&1, Main: "/c/main", Files: []runtimeconf.File{{Path: "/c/main", Text: main}, {Path: "/c/imported", Text: imported}}}
		replay(t, c.Files, func() ([]runtimeconf.Patch, error) {
			return c.Plan(runtimeconf.Change{Handler: "runc", Binary: "/w"}, runtimeconf.Change{Handler: "lanyard", CopyOf: "runc", Binary: "/w"})
		})
		o := runtimeconf.CRIO{Path: "/o/99-lanyard.conf", Files: []runtimeconf.File{{Path: "/o/main", Text: main}, {Path: "/o/99-lanyard.conf", Text: imported}}}
		replay(t, o.Files, func() ([]runtimeconf.Patch, error) {
			return o.Plan(runtimeconf.Change{Handler: "runc", Binary: "/w"}, runtimeconf.Change{Handler: "lanyard", CopyOf: "runc", Binary: "/w"})
		})
	})
}

func undone(t *testing.T, patch runtimeconf.Patch, text []byte) {
	t.Helper()
	// It is written down in between.
	record, err := json.Marshal(patch.Edit)
	if err = errors.Join(err, json.Unmarshal(record, &patch.Edit)); err != nil {
		t.Fatal(err)
	}
	if back, err := patch.Undo(patch.After); err != nil || !bytes.Equal(back, text) {
		t.Fatalf("Undo(…) = %q, %v, want %q", back, err, text)
	}
	if again, err := patch.Undo(append([]byte("# before\n"), append(bytes.Clone(patch.After), "\n# behind\n"...)...)); err != nil || !bytes.HasPrefix(again, []byte("# before\n")) {
		t.Fatalf("Undo with lines around = %q, %v", again, err)
	}
}

// replay makes all patches of a plan and takes them back.
func replay(t *testing.T, files []runtimeconf.File, plan func() ([]runtimeconf.Patch, error)) {
	t.Helper()
	before := map[string][]byte{}
	for _, f := range files {
		before[f.Path] = bytes.Clone(f.Text)
	}
	patches, err := plan()
	if err != nil {
		return
	}
	now := map[string][]byte{}
	for _, p := range patches {
		now[p.Path] = p.After
	}
	for i := len(patches) - 1; i >= 0; i-- {
		p := patches[i]
		if now[p.Path], err = p.Undo(now[p.Path]); err != nil {
			t.Fatal(err)
		}
	}
	for path, text := range now {
		if !bytes.Equal(text, before[path]) {
			t.Fatalf("%s is %q, was %q", path, text, before[path])
		}
	}
}
