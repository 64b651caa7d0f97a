package terminal_test

import (
	"testing"

	"github.com/lanyard-dev/lanyard/internal/terminal"
)

func TestEscape(t *testing.T) {
	for text, want := range map[string]string{
		"":                           "",
		`image "a\b" refused: é 日本`:  `image "a\b" refused: é 日本`,
		"a\r\nb\tc\x00":              `a\r\nb\tc\x00`,
		"\x1b[2J\x1b]0;title\a":      `\x1b[2J\x1b]0;title\a`,
		"\x7f\u009b31m\u2028":        `\x7f\u009b31m\u2028`,
		"user\u202etxt.exe":          `user\u202etxt.exe`,
		"tag \U000e0041 space\u00a0": `tag \U000e0041 space\u00a0`,
		"\xff\x9b \xe6\x97":          `\xff\x9b \xe6\x97`,
		"\ufffd stays":               "\ufffd stays",
	} {
		if got := terminal.Escape(text); got != want {
			t.Errorf("Escape(%q) = %q, want %q", text, got, want)
		}
	}
}

func TestEscapeJSON(t *testing.T) {
	for data, want := range map[string]string{
		"{\n  \"é\": \"日本 \\u001b\"\n}\n":          "{\n  \"é\": \"日本 \\u001b\"\n}\n",
		"\"\x7f \u009b \u202e \U000e0041 \u00a0\"": `"\u007f \u009b \u202e \udb40\udc41 \u00a0"`,
		"\"\xff\"": `"\ufffd"`,
	} {
		if got := string(terminal.EscapeJSON([]byte(data))); got != want {
			t.Errorf("EscapeJSON(%q) = %q, want %q", data, got, want)
		}
	}
}

func TestAllocations(t *testing.T) {
	text, data := `containers "web" and "é": 3 groups`, []byte(`{"name":"é"}`)
	if n := testing.AllocsPerRun(100, func() { terminal.Escape(text); terminal.EscapeJSON(data) }); n != 0 {
		t.Errorf("%v allocations for printable text, want none", n)
	}
}
