package main

import (
	"bytes"
	"strings"
	"testing"
)

func runTool(t *testing.T, args ...string) (int, string, string) {
	t.Helper()
	var out, errs bytes.Buffer
	return run(t.Context(), args, &out, &errs), out.String(), errs.String()
}

func TestUsage(t *testing.T) {
	for name, args := range map[string][]string{
		"no endpoint":    {},
		"an argument":    {"containerd"},
		"a wrong flag":   {"--nothing"},
		"a wrong output": {"--runtime-endpoint", "unix:///x", "-o", "xml"},
		"a wrong regexp": {"--runtime-endpoint", "unix:///x", "--focus", "("},
		"a wrong skip":   {"--runtime-endpoint", "unix:///x", "--skip", "("},
		"no feature":     {"--runtime-endpoint", "unix:///x", "--require", "x"},
		"no time":        {"--runtime-endpoint", "unix:///x", "--timeout", "-1s"},
		"no case at all": {"--runtime-endpoint", "unix:///x", "--parallel", "-1"},
	} {
		t.Run("CON-8 exit code 2 and why: "+name, func(t *testing.T) {
			code, out, errs := runTool(t, args...)
			if code != 2 || !strings.HasPrefix(errs, "criconformance: ") || out != "" {
				t.Errorf("exit code %d, stdout %q, stderr %q", code, out, errs)
			}
		})
	}
}

func TestList(t *testing.T) {
	t.Run("CON-8 the cases can be listed without a runtime", func(t *testing.T) {
		code, out, errs := runTool(t, "--list")
		if code != 0 || !strings.Contains(out, "CON-1   envs/injected ") || !strings.Contains(out, "CON-3   groups/strict ") {
			t.Errorf("exit code %d, stderr %q\n%s", code, errs, out)
		}
	})
}
