package suite_test

import (
	"strings"
	"testing"

	"github.com/lanyard-dev/lanyard/criconformance/suite"
)

func TestCases(t *testing.T) {
	seen := map[string]bool{}
	for _, c := range suite.Cases() {
		if seen[c.Name] {
			t.Errorf("duplicate name %s", c.Name)
		}
		seen[c.Name] = true
		if !strings.HasPrefix(c.Name, string(c.Feature)+"/") {
			t.Errorf("%s is not named after its feature %q", c.Name, c.Feature)
		}
		if !strings.HasPrefix(c.Requirement, "CON-") || c.Source == "" || c.Fix == "" {
			t.Errorf("%s has requirement %q, source %q and fix %q", c.Name, c.Requirement, c.Source, c.Fix)
		}
		if strings.HasPrefix(c.Source, "KEP-6035") && c.Sentence == "" {
			t.Errorf("%s has no sentence of %s", c.Name, c.Source)
		}
	}
	t.Run("CON-1 the KEP's four cases are there", func(t *testing.T) {
		for _, name := range []string{"envs/injected", "envs/over-baseline", "envs/baseline-literal", "envs/literal-dollar", "envs/literal-braces", "envs/literal-percent"} {
			if !seen[name] {
				t.Errorf("no case %s", name)
			}
		}
	})
	t.Run("CON-3 critest's cases are there", func(t *testing.T) {
		for _, name := range []string{"groups/merge", "groups/strict", "groups/status-user-true", "groups/exec-process"} {
			if !seen[name] {
				t.Errorf("no case %s", name)
			}
		}
	})
}
