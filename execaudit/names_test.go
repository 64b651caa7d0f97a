package execaudit_test

import (
	"errors"
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/lanyard-dev/lanyard/execaudit"
)

func TestValidName(t *testing.T) {
	cases := []struct {
		name string
		want bool
	}{
		{"A", true},
		{"_", true},
		{".", true},
		{"..", true},
		{"-", true},
		{"a.b-c_D9", true},
		{"PATH", true},
		{"", false},
		{"1A", false},
		{"A B", false},
		{"A=B", false},
		{"A\n", false},
		{"\nA", false},
		{"A\x00", false},
		{"ä", false},
		{"A\xff", false},
		{"A:B", false},
		{"$A", false},
		{"A@", false},
		{"A[", false},
		{"A`", false},
		{"A{", false},
	}
	for _, c := range cases {
		if got := execaudit.ValidName(c.name); got != c.want {
			t.Errorf("ValidName(%q) = %t, want %t", c.name, got, c.want)
		}
	}
}

func TestValidNameLaws(t *testing.T) {
	pattern := regexp.MustCompile(`\A(?:` + execaudit.NamePattern + `)\z`)
	t.Run("EXA-2 agrees with the pattern on every string of one or two bytes", func(t *testing.T) {
		for a := range 256 {
			for b := -1; b < 256; b++ {
				name := string([]byte{byte(a)})
				if b >= 0 {
					name += string([]byte{byte(b)})
				}
				if got, want := execaudit.ValidName(name), pattern.MatchString(name); got != want {
					t.Fatalf("ValidName(%q) = %t, want %t", name, got, want)
				}
			}
		}
	})
	t.Run("EXA-2 agrees with the pattern on any string", func(t *testing.T) {
		rapid.Check(t, func(t *rapid.T) {
			name := rapid.OneOf(rapid.String(), rapid.StringMatching(execaudit.NamePattern+".?")).Draw(t, "name")
			if got, want := execaudit.ValidName(name), pattern.MatchString(name); got != want {
				t.Fatalf("ValidName(%q) = %t, want %t", name, got, want)
			}
		})
	})
}

func TestGates(t *testing.T) {
	t.Run("EXA-1 both are off by default", func(t *testing.T) {
		if g := (execaudit.Gates{}); g.ExecEnvVar || g.ExecRequestID || g.InjectsAuditID() || g.Validate() != nil {
			t.Errorf("zero Gates = %+v, Validate %v", g, g.Validate())
		}
	})
	t.Run("EXA-1 ExecRequestID alone is a configuration error that says what to do", func(t *testing.T) {
		g := execaudit.Gates{ExecRequestID: true}
		err := g.Validate()
		if !errors.Is(err, execaudit.ErrRequestIDNeedsEnvVar) || !strings.Contains(err.Error(), "requires feature gate ExecEnvVar") {
			t.Errorf("Validate = %v", err)
		}
		if g.InjectsAuditID() {
			t.Error("ExecRequestID alone injects")
		}
	})
	t.Run("EXA-1 the other two settings are valid", func(t *testing.T) {
		for _, g := range []execaudit.Gates{{ExecEnvVar: true}, {ExecEnvVar: true, ExecRequestID: true}} {
			if err := g.Validate(); err != nil {
				t.Errorf("%+v.Validate() = %v", g, err)
			}
		}
	})
}

func TestReserved(t *testing.T) {
	cases := []struct {
		test, name   string
		list, prefix string
	}{
		{
			"EXA-7 the audit ID", "KUBERNETES_EXEC_AUDIT_ID",
			"KUBERNETES_EXEC_AUDIT_ID is reserved by the API server", "KUBERNETES_EXEC_AUDIT_ID is reserved by the API server",
		},
		{
			"EXA-7 the audit ID as Windows would read it", "Kubernetes_Exec_Audit_Id",
			"KUBERNETES_EXEC_AUDIT_ID is reserved by the API server", "KUBERNETES_EXEC_AUDIT_ID is reserved by the API server",
		},
		{
			"EXA-7 another name with the prefix", "KUBERNETES_SERVICE_HOST",
			"", "KUBERNETES_SERVICE_HOST is reserved by Kubernetes: it begins with KUBERNETES_",
		},
		{
			"EXA-7 a prefix before a line break, which does not break the message", "KUBERNETES_\nX",
			"", `"KUBERNETES_\nX" is reserved by Kubernetes: it begins with KUBERNETES_`,
		},
		{"the prefix alone", "KUBERNETES_", "", "KUBERNETES_ is reserved by Kubernetes: it begins with KUBERNETES_"},
		{"less than the prefix", "KUBERNETES", "", ""},
		{"the prefix later", "MY_KUBERNETES_X", "", ""},
		{"the audit ID and more", "KUBERNETES_EXEC_AUDIT_ID2", "", "KUBERNETES_EXEC_AUDIT_ID2 is reserved by Kubernetes: it begins with KUBERNETES_"},
		{"empty", "", "", ""},
	}
	for _, c := range cases {
		t.Run(c.test, func(t *testing.T) {
			for reserved, want := range map[execaudit.Reserved]string{execaudit.ReservedList: c.list, execaudit.ReservedPrefix: c.prefix} {
				if got := reserved.Reason(c.name); got != want {
					t.Errorf("Reserved(%d).Reason(%q) = %q, want %q", reserved, c.name, got, want)
				}
				if got := reserved.Reserves(c.name); got != (want != "") {
					t.Errorf("Reserved(%d).Reserves(%q) = %t", reserved, c.name, got)
				}
			}
		})
	}
}

func TestCheckAuditID(t *testing.T) {
	good := []string{"f4a3b2c1-5d6e-4f70-8192-a3b4c5d6e7f8", "a", "A.b_c-9", strings.Repeat("x", 64)}
	for _, id := range good {
		if err := execaudit.CheckAuditID(id); err != nil {
			t.Errorf("CheckAuditID(%q) = %v, want nil", id, err)
		}
	}
	bad := map[string]string{
		"":                            "bad audit ID: 0 bytes long, must be 1 to 64",
		strings.Repeat("x", 65):       "bad audit ID: 65 bytes long, must be 1 to 64",
		"ab cd":                       "bad audit ID: byte 2 is not one of [A-Za-z0-9._-]",
		"a\n":                         "bad audit ID: byte 1 is not one of [A-Za-z0-9._-]",
		"ü":                           "bad audit ID: byte 0 is not one of [A-Za-z0-9._-]",
		strings.Repeat("x", 63) + "/": "bad audit ID: byte 63 is not one of [A-Za-z0-9._-]",
	}
	for id, want := range bad {
		err := execaudit.CheckAuditID(id)
		if !errors.Is(err, execaudit.ErrBadAuditID) || err.Error() != want {
			t.Errorf("CheckAuditID(%q) = %v, want %s", id, err, want)
		}
	}
}
