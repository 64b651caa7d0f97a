package apiserver_test

import (
	"os"
	"strings"
	"testing"
)

// TestDocs holds the code on the module's page to code that is compiled and run.
func TestDocs(t *testing.T) {
	var compiled strings.Builder
	for _, file := range []string{"../../execaudit/example_test.go", "../../execaudit/apiserver/example_test.go", "../rawquery/rawquery.go"} {
		compiled.Write(must(os.ReadFile(file))(t))
	}
	found := 0
	for i, block := range strings.Split(string(must(os.ReadFile("../../docs/execaudit.md"))(t)), "```") {
		code, isGo := strings.CutPrefix(block, "go\n")
		if i%2 == 0 || !isGo {
			continue
		}
		found++
		t.Run("the page's code is compiled: "+strings.SplitN(code, "\n", 2)[0], func(t *testing.T) {
			if !strings.Contains(unindented(compiled.String()), unindented(code)) {
				t.Errorf("no example has\n%s", code)
			}
		})
	}
	if found == 0 {
		t.Error("no code on the page")
	}
}

// unindented leaves out the white space in front of lines.
func unindented(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		b.WriteString(strings.TrimLeft(line, "\t "))
	}
	return b.String()
}
