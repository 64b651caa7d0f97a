package execaudit_test

import (
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
			tier := func(label string, names ...string) []execaudit.Env {
				return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) execaudit.Env {
					return execaudit.Env{Name: rapid.SampledFrom(names).Draw(t, "name"), Value: rapid.StringMatching(`[a-z]{0,2}`).Draw(t, "value")}
				}), 0, 5).Draw(t, label)
			}
			own, caller := tier("kubelet", "A", "B", execaudit.AuditIDName), tier("caller", "A", "B", "C")
			apiServer := tier("api server", execaudit.AuditIDName)
			runtime, container := execaudit.Environ(tier("runtime", "A", "R")), execaudit.Environ(tier("container", "A", "C", "D"))

			sent := kubelet.Resolve(own, append(slices.Clone(caller), apiServer...), execaudit.ReserveList)
			got, _, errGot := envprecedence.Merge(envprecedence.Tiers{Runtime: runtime, Caller: execaudit.Environ(sent), Container: container}, envprecedence.Linux)
			want, _, errWant := envprecedence.Merge(envprecedence.Tiers{
				Runtime: runtime, Kubelet: execaudit.Environ(own), APIServer: execaudit.Environ(apiServer),
				Caller: execaudit.Environ(caller), Container: container,
			}, envprecedence.Linux)
			if errGot != nil || errWant != nil || !slices.Equal(got, want) {
				t.Fatalf("in two steps %q, %v, at once %q, %v", got, errGot, want, errWant)
			}
		})
	})
}
