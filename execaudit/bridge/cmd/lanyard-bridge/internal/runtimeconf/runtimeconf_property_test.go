package runtimeconf_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/lanyard-dev/lanyard/execaudit/bridge/cmd/lanyard-bridge/internal/runtimeconf"
)

// drawContainerd is a configuration as people have them: one version, handlers in one file or in several.
func drawContainerd(t *rapid.T) runtimeconf.Containerd {
	version := rapid.IntRange(2, 3).Draw(t, "version")
	plugin := map[int]string{2: "io.containerd.grpc.v1.cri", 3: "io.containerd.cri.v1.runtime"}[version]
	c := runtimeconf.Containerd{Major: rapid.IntRange(version-1, 2).Draw(t, "major"), Main: "/c/config.toml"}
	for i := range rapid.IntRange(0, 3).Draw(t, "files") {
		text := fmt.Sprintf("version = %d\n", version)
		if i == 0 && rapid.Bool().Draw(t, "imports") {
			text = "imports = [\"/c/conf.d/*.toml\"] # theirs\n" + text
		}
		for _, handler := range []string{"runc", "crun", "kata"} {
			switch rapid.IntRange(0, 3).Draw(t, handler) {
			case 0:
				kind := map[bool]string{true: "kata", false: "runc"}[handler == "kata"]
				text += fmt.Sprintf("[plugins.%q.containerd.runtimes.%s]\nruntime_type = \"io.containerd.%s.v2\"\n", plugin, handler, kind)
			case 1:
				text += fmt.Sprintf("[plugins.%q.containerd.runtimes.%s]\nruntime_type = \"io.containerd.runc.v2\"\n", plugin, handler) +
					fmt.Sprintf("[plugins.'%s'.containerd.runtimes.%s.options]\n  SystemdCgroup = true\n  BinaryName = '/usr/bin/%s' # here\n", plugin, handler, handler)
			case 2:
				text += fmt.Sprintf("[plugins.%q.containerd.runtimes.%s]\noptions.BinaryName = \"%s\"\nruntime_type = \"io.containerd.runc.v2\"\n", plugin, handler, handler)
			}
		}
		path := c.Main
		if i > 0 {
			path = fmt.Sprintf("/c/conf.d/%d.toml", i)
		}
		c.Files = append(c.Files, runtimeconf.File{Path: path, Text: []byte(strings.TrimSuffix(text, rapid.SampledFrom([]string{"", "\n"}).Draw(t, "end")))})
	}
	return c
}

func TestPlanLaws(t *testing.T) {
	t.Run("BRG-9 BRG-11 a plan changes its handlers alone, is none when made again, and is undone byte for byte", func(t *testing.T) {
		rapid.Check(t, func(t *rapid.T) {
			c := drawContainerd(t)
			handlers, standard, err := c.Handlers()
			if err != nil {
				t.Fatal(err)
			}
			change := runtimeconf.Change{Handler: rapid.SampledFrom([]string{"runc", "crun", "kata"}).Draw(t, "handler"), Binary: "/w \"x\\"}
			if rapid.Bool().Draw(t, "new") {
				change = runtimeconf.Change{Handler: "lanyard", CopyOf: standard, Binary: "/w"}
			}
			texts := map[string]string{}
			for _, f := range c.Files {
				texts[f.Path] = string(f.Text)
			}
			patches, err := c.Plan(change)
			if err != nil {
				return // refused
			}
			after := c
			after.Files = slices.Clone(c.Files)
			for _, p := range patches {
				i := slices.IndexFunc(after.Files, func(f runtimeconf.File) bool { return f.Path == p.Path })
				if i < 0 {
					i = len(after.Files)
					after.Files = append(after.Files, runtimeconf.File{Path: p.Path})
				}
				after.Files[i].Text = p.After
			}
			now, _, err := after.Handlers()
			if err != nil || now[change.Handler].Binary != change.Binary {
				t.Fatalf("handler %q executes %q, %v", change.Handler, now[change.Handler].Binary, err)
			}
			delete(now, change.Handler)
			delete(handlers, change.Handler)
			same := func(a, b runtimeconf.Handler) bool { return a.Type == b.Type && a.Binary == b.Binary }
			if !maps.EqualFunc(now, handlers, same) {
				t.Fatalf("the others are %v, were %v", now, handlers)
			}
			if again, err := after.Plan(change); err != nil || len(again) != 0 {
				t.Fatalf("Plan again = %v, %v", again, err)
			}
			for _, p := range slices.Backward(patches) {
				i := slices.IndexFunc(after.Files, func(f runtimeconf.File) bool { return f.Path == p.Path })
				if after.Files[i].Text, err = p.Undo(after.Files[i].Text); err != nil {
					t.Fatal(err)
				}
			}
			for _, f := range after.Files {
				if string(f.Text) != texts[f.Path] {
					t.Fatalf("%s is %q, was %q", f.Path, f.Text, texts[f.Path])
				}
			}
		})
	})
}
