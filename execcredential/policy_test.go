package execcredential_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/lanyard-dev/lanyard/execcredential"
)

func TestPolicyCheck(t *testing.T) {
	onPath := map[string]string{"plugin": "/usr/local/bin/plugin", "other": "/usr/bin/other", "/usr/bin/plugin": "/usr/bin/plugin"}
	lookup := func(name string) (string, error) {
		if path, ok := onPath[name]; ok {
			return path, nil
		}
		return "", errors.New("not found")
	}
	list := func(commands ...string) execcredential.Policy {
		return execcredential.Policy{Type: execcredential.PolicyAllowlist, Commands: commands}
	}
	cases := []struct {
		name          string
		policy        execcredential.Policy
		command, path string
		allowed       bool
	}{
		{"the zero policy allows", execcredential.Policy{}, "plugin", "/usr/local/bin/plugin", true},
		{"AllowAll allows", execcredential.Policy{Type: execcredential.PolicyAllowAll}, "plugin", "/usr/local/bin/plugin", true},
		{"DenyAll denies", execcredential.Policy{Type: execcredential.PolicyDenyAll}, "plugin", "/usr/local/bin/plugin", false},
		{"an unknown type denies", execcredential.Policy{Type: "x"}, "plugin", "/usr/local/bin/plugin", false},
		{"the command itself", list("plugin"), "plugin", "/usr/local/bin/plugin", true},
		{"the path of the command", list("/usr/local/bin/plugin"), "plugin", "/usr/local/bin/plugin", true},
		{"a name permits the file that it resolves to", list("plugin"), "/usr/local/bin/plugin", "/usr/local/bin/plugin", true},
		{"a name does not permit another file of that name", list("plugin"), "/usr/bin/plugin", "/usr/bin/plugin", false},
		{"a path does not permit a name that resolves elsewhere", list("/usr/bin/plugin"), "plugin", "/usr/local/bin/plugin", false},
		{"a command that is not in the list", list("other"), "plugin", "/usr/local/bin/plugin", false},
		{"a listed command that is missing fails later, as missing", list("/absent"), "/absent", "", true},
		{"a missing command that is not listed", list("plugin"), "/absent", "", false},
	}
	for _, c := range cases {
		t.Run("ECR-21 "+c.name, func(t *testing.T) {
			err := c.policy.Check(c.command, c.path, lookup)
			if (err == nil) != c.allowed || err != nil && !errors.Is(err, execcredential.ErrNotPermitted) {
				t.Errorf("Check(%q, %q) = %v, want allowed %v", c.command, c.path, err, c.allowed)
			}
		})
	}
}

func TestPolicyValidate(t *testing.T) {
	cases := []struct {
		name   string
		policy execcredential.Policy
		fields []string
	}{
		{"the zero policy", execcredential.Policy{}, nil},
		{"a list", execcredential.Policy{Type: execcredential.PolicyAllowlist, Commands: []string{"a", "/b"}}, nil},
		{"a list that is not set", execcredential.Policy{Type: execcredential.PolicyAllowlist}, []string{"allowlist"}},
		{"an empty list", execcredential.Policy{Type: execcredential.PolicyAllowlist, Commands: []string{}}, []string{"allowlist"}},
		{"a list beside AllowAll, even an empty one", execcredential.Policy{Type: execcredential.PolicyAllowAll, Commands: []string{}}, []string{"allowlist"}},
		{"a list beside DenyAll", execcredential.Policy{Type: execcredential.PolicyDenyAll, Commands: []string{"a"}}, []string{"allowlist"}},
		{"an empty entry and one that is not clean", execcredential.Policy{Type: execcredential.PolicyAllowlist, Commands: []string{"", "/a/../b"}}, []string{"allowlist[0]", "allowlist[1]"}},
		{"an unknown type", execcredential.Policy{Type: "x"}, []string{"policy"}},
	}
	for _, c := range cases {
		t.Run("ECR-21 "+c.name, func(t *testing.T) {
			if got := fields(c.policy.Validate()); fmt.Sprint(got) != fmt.Sprint(c.fields) {
				t.Errorf("Validate faults = %v, want %v", got, c.fields)
			}
		})
	}
}
