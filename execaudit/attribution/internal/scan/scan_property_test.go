package scan_test

import (
	"encoding/json"
	"testing"

	"pgregory.net/rapid"

	"github.com/lanyard-dev/lanyard/execaudit/attribution/internal/scan"
)

// texts draws strings full of what strings are hard to find the end of.
func texts() *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		parts := rapid.SliceOfN(rapid.SampledFrom([]string{"a", "bcdefgh", `"`, `\`, "{", "}", "[", "]", ":", ",", "\n", "é", "😀"}), 0, 40)
		text := ""
		for _, part := range parts.Draw(t, "parts") {
			text += part
		}
		return text
	})
}

func TestCursor(t *testing.T) {
	t.Run("ATT-3 texts and what lies between them are read as they were written", func(t *testing.T) {
		rapid.Check(t, func(t *rapid.T) {
			first, second := texts().Draw(t, "first"), texts().Draw(t, "second")
			nested := rapid.MapOf(texts(), rapid.SliceOf(texts())).Draw(t, "nested")
			line, err := json.Marshal([]any{first, nested, second})
			if err != nil {
				t.Fatal(err)
			}
			c := scan.New(line)
			got := []string{}
			for more := c.Array() && c.Element(); more; more = c.Element() {
				got = append(got, string(scan.AppendUnescaped(nil, c.Raw())))
			}
			if !c.OK() || len(got) != 3 || got[0] != first || got[1] != "" || got[2] != second {
				t.Fatalf("%q of %s, whole %t", got, line, c.OK())
			}
		})
	})
	t.Run("ATT-8 a value that was cut anywhere is not whole", func(t *testing.T) {
		rapid.Check(t, func(t *rapid.T) {
			line, err := json.Marshal(rapid.MapOf(texts(), rapid.SliceOf(texts())).Draw(t, "value"))
			if err != nil {
				t.Fatal(err)
			}
			c := scan.New(line[:rapid.IntRange(0, len(line)-1).Draw(t, "cut")])
			c.Skip()
			if c.OK() {
				t.Fatalf("took a part of %s", line)
			}
		})
	})
}
