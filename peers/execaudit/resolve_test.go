package execaudit_test

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/lanyard-dev/lanyard/envprecedence"
	"github.com/lanyard-dev/lanyard/execaudit"
	"github.com/lanyard-dev/lanyard/execaudit/kubelet"
)

func TestResolveAgrees(t *testing.T) {
	t.Run("EXA-31 the kubelet's resolution and the runtime's merge are the five tiers", func(t *testing.T) {
		rapid.Check(t, func(t *rapid.T) {
			tier := func(label string, names ...string) []envprecedence.Entry {
				return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) envprecedence.Entry {
					return envprecedence.NewEntry(rapid.SampledFrom(names).Draw(t, "name"), rapid.StringMatching(`[a-z]{0,2}`).Draw(t, "value"))
				}), 0, 5).Draw(t, label)
			}
			own, caller := tier("kubelet", "A", "B", execaudit.AuditIDName), tier("caller", "A", "B", "C")
			apiServer := tier("api server", execaudit.AuditIDName)
			runtime, container := environ(tier("runtime", "A", "R")), environ(tier("container", "A", "C", "D"))

			sent := kubelet.Resolve(own, append(slices.Clone(caller), apiServer...), execaudit.ReservedList)
			got, _, errGot := envprecedence.Merge(envprecedence.Tiers{Runtime: runtime, Caller: environ(sent), Container: container}, envprecedence.PlatformLinux)
			want, _, errWant := envprecedence.Merge(envprecedence.Tiers{
				Runtime: runtime, Kubelet: environ(own), APIServer: environ(apiServer),
				Caller: environ(caller), Container: container,
			}, envprecedence.PlatformLinux)
			if errGot != nil || errWant != nil || !slices.Equal(got, want) {
				t.Fatalf("in two steps %q, %v, at once %q, %v", got, errGot, want, errWant)
			}
		})
	})
}

func BenchmarkResolve(b *testing.B) {
	for _, n := range []int{1, 16, 256} {
		envs := append(entries(n), envprecedence.NewEntry(execaudit.AuditIDName, "f4a3b2c1-0000-4000-8000-000000000001"))
		b.Run(fmt.Sprintf("%dentries", n), func(b *testing.B) {
			measure(b, "floor", func() error { resolved = slices.Clone(envs); return nil })
			measure(b, "lanyard", func() error { resolved = kubelet.Resolve(nil, envs, execaudit.ReservedList); return nil })
			measure(b, "map", func() error { resolved = lastOfEach(envs); return nil })
		})
	}
}

// resolved keeps the compiler from leaving out the copy of the floor.
var resolved []envprecedence.Entry

// lastOfEach is what one writes first: the last entry of each name, by a map.
func lastOfEach(envs []envprecedence.Entry) []envprecedence.Entry {
	taken := make(map[string]bool, len(envs))
	out := make([]envprecedence.Entry, 0, len(envs))
	for _, e := range slices.Backward(envs) {
		if !taken[e.Name] {
			taken[e.Name] = true
			out = append(out, e)
		}
	}
	slices.Reverse(out)
	return out
}
