package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"
)

// hostile holds what a terminal obeys or a reader is misled by: an escape sequence, a bell, DEL, C1 as UTF-8 and as a
// byte, a right-to-left override, a line separator, a tag character and line breaks.
const hostile = "\x1b]0;x\x07\x7f\u009b31m\x9b31m\u202e\u2028\U000e0041\r\ncriconformance: all is well"

// driving returns the first thing in text that no terminal should get, or the line that hostile has forged; else "".
func driving(text string) string {
	for i, r := range text {
		if r != '\n' && !strconv.IsPrint(r) || r == utf8.RuneError && !strings.HasPrefix(text[i:], "\ufffd") {
			return fmt.Sprintf("%+q at byte %d of %+q", r, i, text)
		}
	}
	if strings.Contains(text, "\ncriconformance: all is well") {
		return fmt.Sprintf("a forged line: %+q", text)
	}
	return ""
}

// TestTerminal gives the tool hostile text at each of its inputs, in each format of the report.
func TestTerminal(t *testing.T) {
	words := hostile + "\n"
	for name, args := range map[string][]string{
		"what a runtime says":        {"--images", "localhost/x", "--runtime-endpoint", refusing(t, words, func() {})},
		"an endpoint":                {"--images", "localhost/x", "--runtime-endpoint", "unix:///nonexistent/" + hostile},
		"an endpoint that is none":   {"--images", "localhost/x", "--runtime-endpoint", hostile},
		"an image endpoint":          {"--images", "localhost/x", "--runtime-endpoint", refusing(t, words, func() {}), "--image-endpoint", hostile},
		"--focus":                    {"--focus", "(" + hostile},
		"--skip":                     {"--skip", "(" + hostile},
		"--focus on nothing":         {"--focus", strings.ToValidUTF8(hostile, ""), "--images", "localhost/x", "--runtime-endpoint", "unix:///nonexistent/x"},
		"--require":                  {"--require", strings.NewReplacer("\r", "", "\n", "").Replace(hostile), "--images", "localhost/x", "--runtime-endpoint", "unix:///nonexistent/x"},
		"--images":                   {"--images", hostile, "--runtime-endpoint", refusing(t, words, func() {})},
		"--push":                     {"--push", hostile, "--runtime-endpoint", refusing(t, words, func() {})},
		"--reporter":                 {"--reporter", "/nonexistent/" + hostile, "--runtime-endpoint", refusing(t, words, func() {})},
		"--runtime-handler":          {"--runtime-handler", hostile, "--images", "localhost/x", "--runtime-endpoint", refusing(t, words, func() {})},
		"--timeout":                  {"--timeout", hostile},
		"--parallel":                 {"--parallel", hostile},
		"--junit":                    {"--junit", "/nonexistent/" + hostile},
		"--write-archive":            {"--write-archive", "/nonexistent/" + hostile, "--images", "localhost/x"},
		"--write-archive's images":   {"--write-archive", filepath.Join(t.TempDir(), "x"), "--images", hostile},
		"--write-archive's reporter": {"--write-archive", filepath.Join(t.TempDir(), "x"), "--images", "localhost/x", "--reporter", "/nonexistent/" + hostile},
		"an unknown flag":            {"--" + hostile},
		"an argument":                {hostile},
		"--output":                   {"--output", hostile},
	} {
		for _, format := range []string{"text", "json"} {
			t.Run("CON-8 drives no terminal as "+format+": "+name, func(t *testing.T) {
				args := append([]string{"-o", format}, args...)
				path := filepath.Join(t.TempDir(), "junit.xml")
				if name != "--junit" {
					args = append([]string{"--junit", path}, args...)
				}
				code, out, errs := runTool(t, args...)
				if code != 2 || !strings.HasPrefix(errs, "criconformance: ") {
					t.Errorf("exit code %d, %+q, want 2 and an error", code, errs)
				}
				file, err := os.ReadFile(path)
				if err != nil && !os.IsNotExist(err) {
					t.Fatal(err)
				}
				for stream, text := range map[string]string{"standard output": out, "standard error": errs, "the JUnit file": string(file)} {
					if d := driving(text); d != "" {
						t.Errorf("%s has %s", stream, d)
					}
				}
			})
		}
	}
	t.Run("CON-8 what a runtime says is on one line of standard error, to be seen", func(t *testing.T) {
		_, _, errs := runTool(t, "--runtime-endpoint", refusing(t, words, func() {}), "--images", "localhost/x")
		if strings.Count(errs, "\n") != 1 || !strings.Contains(errs, `\x1b]0;x\a\x7f\u009b31m`) {
			t.Errorf("stderr %+q", errs)
		}
	})
}
