package terminal_test

import (
	"encoding/json"
	"testing"
	"unicode/utf8"

	"github.com/lanyard-dev/lanyard/internal/terminal"
)

var seeds = []string{
	"", "two words", `"quoted" \ back`, "a\x1b[2J", "\u009b\u202e\u2028\x7f", "\xff\x9b", "\U000e0041", "é\ufffd", "a\r\nb\t", `{"a": "\u001b"}`,
}

func FuzzEscape(f *testing.F) {
	for _, s := range seeds {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		checkEscape(t, text)
		checkJSON(t, map[string]string{text: text})
	})
}

// FuzzEscapeJSON: whatever the bytes, valid JSON stays valid, and nothing beyond ASCII's first controls goes through.
func FuzzEscapeJSON(f *testing.F) {
	for _, s := range seeds {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		got := terminal.EscapeJSON(data)
		if !utf8.Valid(got) || json.Valid(data) && !json.Valid(got) {
			t.Fatalf("EscapeJSON(%q) = %q", data, got)
		}
	})
}
