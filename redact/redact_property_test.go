package redact_test

import (
	"bytes"
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/lanyard-dev/lanyard/redact"
)

func TestLaws(t *testing.T) {
	t.Run("MOD-9 every verb and flag shows the same for any two texts but %p, %w and %T, which show an address or the type", func(t *testing.T) {
		rapid.Check(t, func(rt *rapid.T) {
			verb := "%" + rapid.StringMatching(`[-+# 0]{0,3}[0-9]?(\.[0-9])?[a-oq-vx-zA-SU-Z]`).Draw(rt, "verb")
			a, b := rapid.String().Draw(rt, "a"), rapid.String().Draw(rt, "b")
			if got, want := fmt.Sprintf(verb, redact.New(a)), fmt.Sprintf(verb, redact.New(b)); got != want {
				rt.Fatalf("Sprintf(%q) = %q and %q, want no difference", verb, got, want)
			}
			if got, want := fmt.Sprintf(verb, redact.NewBytes([]byte(a))), fmt.Sprintf(verb, redact.New(b)); got != want {
				rt.Fatalf("Sprintf(%q) = %q and %q, want no difference", verb, got, want)
			}
		})
	})
	t.Run("Equal agrees with equality of the contents", func(t *testing.T) {
		rapid.Check(t, func(rt *rapid.T) {
			contents := rapid.SampledFrom([]string{"", "a", "b", "aa", "ab"})
			a, b := contents.Draw(rt, "a"), contents.Draw(rt, "b")
			if got := redact.New(a).Equal(redact.New(b)); got != (a == b) {
				rt.Fatalf("New(%q).Equal(New(%q)) = %v", a, b, got)
			}
			if got := redact.NewBytes([]byte(a)).Equal(redact.NewBytes([]byte(b))); got != (a == b) {
				rt.Fatalf("NewBytes(%q).Equal(NewBytes(%q)) = %v", a, b, got)
			}
		})
	})
	t.Run("Reveal gives back what New, Texts and NewBytes took", func(t *testing.T) {
		rapid.Check(t, func(rt *rapid.T) {
			texts := rapid.SliceOf(rapid.String()).Draw(rt, "texts")
			if got := redact.Reveal(redact.Texts(texts...)); !slices.Equal(got, texts) {
				rt.Fatalf("Reveal(Texts(%q)) = %q", texts, got)
			}
			for _, text := range texts {
				if got := redact.New(text).Reveal(); got != text {
					rt.Fatalf("New(%q).Reveal() = %q", text, got)
				}
				if got := redact.NewBytes([]byte(text)).Reveal(); !bytes.Equal(got, []byte(text)) {
					rt.Fatalf("NewBytes(%q).Reveal() = %q", text, got)
				}
			}
		})
	})
}
