package main

import (
	"bytes"
	"context"
	"strings"
	"testing"
)

func TestExecute(t *testing.T) {
	for _, test := range []struct {
		name string
		args []string
		code int
		out  string
		errs string
	}{
		{"AGT-6 every command is told", []string{"--help"}, 0, "probe", ""},
		{"AGT-6 an unknown flag", []string{"run", "--bad"}, 2, "", "execaudit-agent: unknown flag: --bad"},
		{"AGT-4 an unknown mode", []string{"run", "--mode=magic"}, 2, "", "auto, ebpf or connector"},
		{"AGT-6 an output that is none", []string{"run", "--output="}, 2, "", "--output is missing"},
		{"AGT-2 a buffer of no size", []string{"run", "--ring-bytes=5000"}, 2, "", "power of two"},
		{"AGT-6 an unknown order", []string{"top", "--sort=size"}, 2, "", "--sort is"},
		{"AGT-6 an agent that is not there", []string{"status", "--socket=/nonexistent/\x1b[31magent"}, 1, "", `/nonexistent/\x1b[31magent`},
	} {
		t.Run(test.name, func(t *testing.T) {
			var out, errs bytes.Buffer
			code := execute(context.Background(), test.args, strings.NewReader(""), &out, &errs)
			if code != test.code || !strings.Contains(out.String(), test.out) || !strings.Contains(errs.String(), test.errs) {
				t.Fatalf("execute(%q) = %d, %q, %q; want %d, %q, %q", test.args, code, &out, &errs, test.code, test.out, test.errs)
			}
		})
	}
}
