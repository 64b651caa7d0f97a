package pluginexec_test

import (
	"fmt"
	"testing"

	"github.com/lanyard-dev/lanyard/internal/pluginexec"
	"pgregory.net/rapid"
)

func TestSecretLaws(t *testing.T) {
	t.Run("ECR-28 every verb and flag prints the same for any two secrets but %p and %w, which show an address", func(t *testing.T) {
		rapid.Check(t, func(rt *rapid.T) {
			verb := "%" + rapid.StringMatching(`[-+# 0]{0,3}[0-9]?(\.[0-9])?[a-oq-vx-zA-Z]`).Draw(rt, "verb")
			a := pluginexec.NewSecret(rapid.String().Draw(rt, "a"))
			b := pluginexec.NewSecret(rapid.String().Draw(rt, "b"))
			if got, want := fmt.Sprintf(verb, a), fmt.Sprintf(verb, b); got != want {
				rt.Fatalf("Sprintf(%q) = %q and %q, want no difference", verb, got, want)
			}
		})
	})
	t.Run("Equal agrees with == on the texts", func(t *testing.T) {
		rapid.Check(t, func(rt *rapid.T) {
			texts := rapid.SampledFrom([]string{"", "a", "b", "aa", "ab"})
			a, b := texts.Draw(rt, "a"), texts.Draw(rt, "b")
			if got := pluginexec.NewSecret(a).Equal(pluginexec.NewSecret(b)); got != (a == b) {
				rt.Fatalf("NewSecret(%q).Equal(NewSecret(%q)) = %v", a, b, got)
			}
		})
	})
}
