package report_test

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/lanyard-dev/lanyard/supgroups/cmd/supgroups/internal/report"
)

// FuzzSafeToPrint: whatever the text, nothing that a terminal obeys comes out, and no name is lost.
func FuzzSafeToPrint(f *testing.F) {
	for _, s := range []string{"", "web", "two words", `"quoted"`, "a\x1b[2J", "\u009b\u202e\u2028\x7f", "\xff\x9b", "\U000e0041", "é\ufffd", "a\r\nb\t"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		var out bytes.Buffer
		if err := report.PrintJSON(&out, map[string]string{"name": s}); err != nil {
			t.Fatal(err)
		}
		for _, printed := range []string{report.Plain(s), strings.ReplaceAll(out.String(), "\n", "")} {
			if !utf8.ValidString(printed) || strings.ContainsFunc(printed, func(r rune) bool { return !strconv.IsPrint(r) }) {
				t.Fatalf("%+q is printed as %+q", s, printed)
			}
		}
		if plain := report.Plain(s); plain != s {
			if back, err := strconv.Unquote(plain); err != nil || back != s {
				t.Fatalf("Plain(%+q) = %s, which is %+q, %v", s, plain, back, err)
			}
		}
		var back map[string]string
		if err := json.Unmarshal(out.Bytes(), &back); err != nil || utf8.ValidString(s) && back["name"] != s {
			t.Fatalf("PrintJSON(%+q) = %s, which is %+q, %v", s, out.String(), back, err)
		}
	})
}
