package oci_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/lanyard-dev/lanyard/envprecedence"
	"github.com/lanyard-dev/lanyard/execaudit/bridge"
	"github.com/lanyard-dev/lanyard/execaudit/bridge/oci"
)

// lastWins is what runc and crun make of an environment: the last entry of a name counts.
func lastWins(env []string) map[string]string {
	all := map[string]string{}
	for _, entry := range env {
		if name, value, ok := strings.Cut(entry, "="); ok && name != "" {
			all[name] = value
		}
	}
	return all
}

func TestLaws(t *testing.T) {
	names := rapid.SampledFrom([]string{"A", "B", "PATH", bridge.SessionName, bridge.SessionName + "_", "a"})
	entry := rapid.Custom(func(t *rapid.T) string {
		return names.Draw(t, "name") + rapid.SampledFrom([]string{"=", "=1", "=x=y", ""}).Draw(t, "value")
	})
	t.Run("BRG-1 what a runtime makes of a rewritten environment is envprecedence's merge with ours on top", func(t *testing.T) {
		rapid.Check(t, func(t *rapid.T) {
			env := rapid.SliceOf(entry).Draw(t, "env")
			text, err := json.Marshal(map[string]any{"args": []string{tok, "sh"}, "env": env})
			if err != nil {
				t.Fatal(err)
			}
			p, err := oci.ParseProcess(text)
			if err != nil {
				t.Fatal(err)
			}
			rewritten, err := oci.ParseProcess(p.Rewrite("s"))
			if err != nil {
				t.Fatal(err)
			}
			base, _ := envprecedence.Prepare(env, envprecedence.PlatformLinux)
			merged, err := base.Merge([]string{bridge.SessionName + "=s"}, nil)
			if err != nil {
				t.Fatal(err)
			}
			got, want := lastWins(rewritten.Env), lastWins(merged)
			if len(got) != len(want) {
				t.Fatalf("%q, want %q", rewritten.Env, merged)
			}
			for name, value := range want {
				if got[name] != value {
					t.Errorf("%s is %q, want %q", name, got[name], value)
				}
			}
			if n := len(slices.DeleteFunc(rewritten.Env, func(entry string) bool { return !strings.HasPrefix(entry, bridge.SessionName+"=") })); n != 1 {
				t.Errorf("%d entries are ours", n)
			}
		})
	})
	t.Run("BRG-1 any process that encoding/json writes is read, and an ID read from it is the one written", func(t *testing.T) {
		rapid.Check(t, func(t *rapid.T) {
			args := rapid.SliceOf(rapid.String()).Draw(t, "args")
			session := rapid.String().Draw(t, "session")
			text, err := json.Marshal(map[string]any{"args": append([]string{tok, "sh"}, args...), "terminal": rapid.Bool().Draw(t, "terminal"), "x": args})
			if err != nil {
				t.Fatal(err)
			}
			p, err := oci.ParseProcess(text)
			if err != nil {
				t.Fatal(err)
			}
			again, err := oci.ParseProcess(p.Rewrite(session))
			if err != nil || !slices.Equal(again.Args, append([]string{"sh"}, args...)) {
				t.Fatalf("%q, %v", again.Args, err)
			}
			if len(again.Env) != 1 && session != "" || session != "" && again.Env[0] != bridge.SessionName+"="+session {
				t.Errorf("env %q, want %q", again.Env, session)
			}
		})
	})
	t.Run("BRG-1 runc's and crun's spellings of one call are read alike", func(t *testing.T) {
		rapid.Check(t, func(t *rapid.T) {
			value := rapid.StringMatching(`[a-z/.=-]{1,8}`).Draw(t, "value")
			spell := func(name string) []string {
				if rapid.Bool().Draw(t, "with equals sign") {
					return []string{"--" + name + "=" + value}
				}
				return []string{"--" + name, value}
			}
			args := append(spell("root"), "--systemd-cgroup")
			args = append(append(args, spell("log")...), "exec", "--detach")
			args = append(append(append(args, spell("process")...), spell("pid-file")...), "c1", "rest")
			want := oci.Call{Command: "exec", ID: "c1", Rest: []string{"rest"}, Root: value, Log: value, Process: value, PIDFile: value}
			if got := oci.ParseCall(args); got.Command != want.Command || got.ID != want.ID || !slices.Equal(got.Rest, want.Rest) ||
				got.Root != want.Root || got.Log != want.Log || got.Process != want.Process || got.PIDFile != want.PIDFile {
				t.Errorf("ParseCall(%q) = %+v, want %+v", args, got, want)
			}
		})
	})
}
