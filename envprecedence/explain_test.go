package envprecedence_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/lanyard-dev/lanyard/envprecedence"
)

func TestExplain(t *testing.T) {
	tiers := envprecedence.Tiers{
		APIServer: []string{"KUBERNETES_EXEC_AUDIT_ID=f4a3"},
		Caller:    []string{"LOG_LEVEL=info", "KUBERNETES_EXEC_AUDIT_ID=" + secret, "LOG_LEVEL=debug"},
		Container: []string{"NOEQUALS", "PATH=/bin", "LOG_LEVEL=warn"},
	}
	source := func(tier envprecedence.Tier, index int) envprecedence.Source {
		return envprecedence.Source{Tier: tier, Index: index}
	}
	got := envprecedence.Explain(tiers, envprecedence.PlatformLinux)
	t.Run("ENV-12 each key has its winner and all it shadows, strongest first, in the order of the merge", func(t *testing.T) {
		want := []envprecedence.Explanation{
			{
				Name: "KUBERNETES_EXEC_AUDIT_ID", Winner: source(envprecedence.TierAPIServer, 0),
				Shadowed: []envprecedence.Source{source(envprecedence.TierCaller, 1)},
			},
			{
				Name: "LOG_LEVEL", Winner: source(envprecedence.TierCaller, 2),
				Shadowed: []envprecedence.Source{source(envprecedence.TierCaller, 0), source(envprecedence.TierContainer, 2)},
			},
			{Name: "PATH", Winner: source(envprecedence.TierContainer, 1)},
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("Explain(…) = %v, want %v", got, want)
		}
	})
	t.Run("ENV-12 an explanation reads as a line and holds no value", func(t *testing.T) {
		if got, want := got[1].String(), `"LOG_LEVEL": caller entry 2, over caller entry 0, container entry 2`; got != want {
			t.Errorf("String() = %s, want %s", got, want)
		}
		if text := fmt.Sprintf("%v %+v %#v", got, got, got); strings.Contains(text, secret) {
			t.Errorf("the explanations read %q, want no value in them", text)
		}
	})
	t.Run("ENV-12 ENV-13 on Windows the winner's spelling names the key", func(t *testing.T) {
		got := envprecedence.Explain(envprecedence.Tiers{Caller: []string{"PATH=1"}, Container: []string{"Path=2"}}, envprecedence.PlatformWindows)
		if len(got) != 1 || got[0].Name != "PATH" || len(got[0].Shadowed) != 1 {
			t.Errorf("Explain(…) = %v, want PATH alone, over one entry", got)
		}
	})
	t.Run("ENV-12 nothing to explain", func(t *testing.T) {
		if got := envprecedence.Explain(envprecedence.Tiers{}, envprecedence.PlatformLinux); got != nil {
			t.Errorf("Explain(…) = %v, want nil", got)
		}
	})
	t.Run("ENV-12 every tier has a name of its own", func(t *testing.T) {
		names := map[string]bool{}
		for tier := envprecedence.Tier(0); tier <= envprecedence.TierRequest; tier++ {
			names[tier.String()] = true
		}
		if len(names) != int(envprecedence.TierRequest)+1 {
			t.Errorf("the tiers have the names %v, want %d different ones", names, envprecedence.TierRequest+1)
		}
	})
}
