package printable_test

import (
	"testing"

	"github.com/lanyard-dev/lanyard/criconformance/internal/printable"
)

func TestPrintable(t *testing.T) {
	for _, c := range []struct{ text, line, lines string }{
		{"", "", ""},
		{`FOO="a  b"`, `FOO="a  b"`, `FOO="a  b"`},
		{"one\r\n\ttwo\n", "one  two", "one\\r\n\\ttwo\n"},
		{"\x1b[2J\x7f\u009b\x9b\u202e\u2028\U000e0041é\ufffd", `\x1b[2J\x7f\u009b\x9b\u202e\u2028\U000e0041é` + "\ufffd", `\x1b[2J\x7f\u009b\x9b\u202e\u2028\U000e0041é` + "\ufffd"},
	} {
		t.Run("CON-8 what cannot be printed is escaped: "+c.line, func(t *testing.T) {
			if got := printable.Line(c.text); got != c.line {
				t.Errorf("Line(%q) = %q, want %q", c.text, got, c.line)
			}
			if got := printable.Lines(c.text); got != c.lines {
				t.Errorf("Lines(%q) = %q, want %q", c.text, got, c.lines)
			}
		})
	}
}
