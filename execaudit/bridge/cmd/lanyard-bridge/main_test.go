package main

import (
	"bytes"
	"context"
	"strings"
	"testing"
)

func TestRun(t *testing.T) {
	for _, test := range []struct {
		name string
		args []string
		code int
		out  string
		errs string
	}{
		{"every command is told", []string{"--help"}, 0, "webhook", ""},
		{"an unknown flag", []string{"webhook", "--bad"}, 2, "", "lanyard-bridge: unknown flag: --bad"},
		{"a wrong command line", []string{"keys"}, 2, "", "name what to do"},
		{"nobody may call", []string{"webhook", "--tls-cert-file=a", "--tls-private-key-file=b", "--key-file=c", "--records-file=-"}, 2, "", "who may call the webhook?"},
		{"a file that is not there", []string{"keys", "public", "/nonexistent/\x1b[31mkey"}, 1, "", `/nonexistent/\x1b[31mkey: no such file`},
	} {
		t.Run("BRG-9 "+test.name, func(t *testing.T) {
			var out, errs bytes.Buffer
			code := run(context.Background(), test.args, strings.NewReader(""), &out, &errs)
			if code != test.code || !strings.Contains(out.String(), test.out) || !strings.Contains(errs.String(), test.errs) {
				t.Fatalf("run(%q) = %d, %q, %q; want %d, %q, %q", test.args, code, &out, &errs, test.code, test.out, test.errs)
			}
		})
	}
}
