package texts_test

import (
	"encoding/json"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/lanyard-dev/lanyard/execaudit/attribution/internal/texts"
)

// inside returns the inside of a JSON string that means text.
func inside(t *rapid.T, text string) []byte {
	quoted, err := json.Marshal(text)
	if err != nil {
		t.Fatal(err)
	}
	return quoted[1 : len(quoted)-1]
}

func TestStoreLaws(t *testing.T) {
	text := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"", "n1", "web-0", strings.Repeat("x", 9_000), strings.Repeat(`"`, 9_000)}))
	t.Run("ATT-3 a copy is what the string means, and stays so whatever is read after it", func(t *testing.T) {
		rapid.Check(t, func(t *rapid.T) {
			var s texts.Store
			var want, got []string
			for _, one := range rapid.SliceOfN(text, 1, 50).Draw(t, "texts") {
				raw := inside(t, one)
				read := map[string]func([]byte) string{"text": s.Text, "name": s.Name}[rapid.SampledFrom([]string{"text", "name"}).Draw(t, "kind")]
				want, got = append(want, one), append(got, read(raw))
				clear(raw)
			}
			for i := range want {
				if got[i] != want[i] {
					t.Fatalf("text %d is %q, want %q", i, got[i], want[i])
				}
			}
		})
	})
	t.Run("ATT-6 a command line is cut at its bound", func(t *testing.T) {
		rapid.Check(t, func(t *rapid.T) {
			var s texts.Store
			words := rapid.SliceOf(text).Draw(t, "words")
			var raw [][]byte
			for _, word := range words {
				raw = append(raw, inside(t, word))
			}
			whole := strings.Join(words, " ")
			if got := s.Words(raw); got != whole[:min(len(whole), texts.MaxCommandBytes)] {
				t.Fatalf("Words = %q of %q", got, whole)
			}
		})
	})
}
