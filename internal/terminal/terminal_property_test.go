package terminal_test

import (
	"encoding/json"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/lanyard-dev/lanyard/internal/terminal"
)

// anyText is any bytes, with many characters that a terminal obeys.
func anyText() *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		parts := rapid.SliceOf(rapid.OneOf(
			rapid.String(),
			rapid.StringOfN(rapid.RuneFrom([]rune("\x1b\x07\r\n\t\x7f\u009b\u200b\u2028\u202e\u00a0\ufeff\ufffd\U000e0041\\\"x41")), 0, 8, -1),
			rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) string { return string(b) }),
		)).Draw(t, "parts")
		return strings.Join(parts, "")
	})
}

func TestLaws(t *testing.T) {
	t.Run("nothing that a terminal obeys comes out, and one line", rapid.MakeCheck(func(t *rapid.T) {
		checkEscape(t, anyText().Draw(t, "text"))
	}))
	t.Run("parts at character boundaries are escaped on their own", rapid.MakeCheck(func(t *rapid.T) {
		a, b := rapid.String().Draw(t, "a"), anyText().Draw(t, "b")
		if got, want := terminal.Escape(a+b), terminal.Escape(a)+terminal.Escape(b); got != want {
			t.Fatalf("Escape(%q + %q) = %q, want %q", a, b, got, want)
		}
	}))
	t.Run("JSON keeps its meaning", rapid.MakeCheck(func(t *rapid.T) {
		checkJSON(t, map[string]string{anyText().Draw(t, "key"): anyText().Draw(t, "value")})
	}))
}

type fataler interface {
	Helper()
	Fatalf(format string, args ...any)
}

func checkEscape(t fataler, text string) {
	t.Helper()
	got := terminal.Escape(text)
	if !utf8.ValidString(got) || strings.ContainsFunc(got, func(r rune) bool { return !strconv.IsPrint(r) }) {
		t.Fatalf("Escape(%q) = %q, which is not printable", text, got)
	}
	if again := terminal.Escape(got); again != got {
		t.Fatalf("Escape(%q) = %q, want it unchanged", got, again)
	}
	if want := escapeSlowly(text); got != want {
		t.Fatalf("Escape(%q) = %q, want %q", text, got, want)
	}
	// Where the text contains no backslash, the escapes can be read back.
	if !strings.Contains(text, `\`) {
		back, err := strconv.Unquote(`"` + strings.ReplaceAll(got, `"`, `\"`) + `"`)
		if err != nil || back != text {
			t.Fatalf("Escape(%q) = %q, which reads back as %q, %v", text, got, back, err)
		}
	}
}

// escapeSlowly is Escape, one character at a time.
func escapeSlowly(text string) string {
	out := ""
	for size := 0; len(text) > 0; text = text[size:] {
		var r rune
		r, size = utf8.DecodeRuneInString(text)
		quoted := strconv.Quote(text[:size])
		if invalid := r == utf8.RuneError && size == 1; invalid || !strconv.IsPrint(r) {
			out += quoted[1 : len(quoted)-1]
		} else {
			out += text[:size]
		}
	}
	return out
}

func checkJSON(t fataler, v map[string]string) {
	t.Helper()
	data, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		t.Fatalf("MarshalIndent(%q) = %v", v, err)
	}
	got := terminal.EscapeJSON(data)
	if !utf8.Valid(got) || strings.ContainsFunc(string(got), func(r rune) bool { return r != '\n' && !strconv.IsPrint(r) }) {
		t.Fatalf("EscapeJSON(%q) = %q, which is not printable", data, got)
	}
	var before, after any
	if err := json.Unmarshal(data, &before); err != nil {
		t.Fatalf("Unmarshal(%q) = %v", data, err)
	}
	if err := json.Unmarshal(got, &after); err != nil || !reflect.DeepEqual(before, after) {
		t.Fatalf("EscapeJSON(%q) = %q, which is %q, %v", data, got, after, err)
	}
}
