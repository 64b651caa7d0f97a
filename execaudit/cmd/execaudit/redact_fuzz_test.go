package main

import (
	"strings"
	"testing"
)

func FuzzRedactLine(f *testing.F) {
	for _, line := range []string{
		`GET "/exec/a/b?command=sh&env=A=hunter2&tty=1" 200`, `{"requestURI":"/exec?env=B%3Dhunter2\u0026command=id","x":"what?"}`, "plain, no query", "?", `?env=\u0026`,
	} {
		f.Add(line, "hunter2")
	}
	f.Fuzz(func(t *testing.T, line, value string) {
		once := redactLine(line)
		if again := redactLine(once); again != once {
			t.Errorf("redactLine(%q) = %q, and again %q", line, once, again)
		}
		if !strings.Contains(line, "?") && once != line {
			t.Errorf("redactLine(%q) = %q, without a query", line, once)
		}
		secret := "secret" + strings.Map(letter, value)
		if got := redactLine(line + ` "/exec?tty=1&env=A=` + secret + `"`); strings.Contains(got, secret) && !strings.Contains(line, secret) {
			t.Errorf("a value passed: %q", got)
		}
	})
}

// letter drops what ends a value.
func letter(r rune) rune {
	if r >= 'a' && r <= 'z' {
		return r
	}
	return -1
}
