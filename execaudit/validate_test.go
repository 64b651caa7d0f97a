package execaudit_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/lanyard-dev/lanyard/envprecedence"
	"github.com/lanyard-dev/lanyard/execaudit"
	"github.com/lanyard-dev/lanyard/redact"
)

// strictRule is the wording that Kubernetes has for this pattern; peers/execaudit
// holds it equal to the original.
const strictRule = "a valid environment variable name must consist of alphabetic characters, digits, '_', '-', or '.', " +
	"and must not start with a digit (e.g. 'my.env-name',  or 'MY_ENV.NAME',  or 'MyEnvName1', " +
	"regex used for validation is '[-._a-zA-Z][-._a-zA-Z0-9]*')"

type env = envprecedence.Entry

// environ returns each entry as NAME=VALUE.
func environ(envs []env) (all []string) {
	for _, e := range envs {
		all = append(all, e.Name+"="+e.Value.Reveal())
	}
	return all
}

func numbered(n int, value string) []env {
	envs := make([]env, n)
	for i := range envs {
		envs[i] = envprecedence.NewEntry(fmt.Sprintf("N%03d", i), value)
	}
	return envs
}

func TestValidate(t *testing.T) {
	cases := []struct {
		name string
		envs []env
		want []string
	}{
		{"none", nil, nil},
		{"EXA-3 an empty value is valid", []env{envprecedence.NewEntry("A", "")}, nil},
		{
			"values are literal", []env{envprecedence.NewEntry("A", "$FOO ${FOO} $(FOO) %FOO% `x` ~ '\" \n\r\t\x01 äöü = ,")}, nil,
		},
		{"EXA-2 the name is required", []env{envprecedence.NewEntry("", "x")}, []string{"env[0].name: Required value"}},
		{"EXA-2 two empty names are missing, not duplicates", []env{{}, {}}, []string{"env[0].name: Required value", "env[1].name: Required value"}},
		{"EXA-2 the whole name must match", []env{envprecedence.NewEntry("A", ""), envprecedence.NewEntry("A\n", "")}, []string{`env[1].name: Invalid value: "A\n": ` + strictRule}},
		{"EXA-2 no leading digit", []env{envprecedence.NewEntry("1A", "")}, []string{`env[0].name: Invalid value: "1A": ` + strictRule}},
		{
			"EXA-4 every further entry of a name is a duplicate",
			[]env{envprecedence.NewEntry("X", ""), envprecedence.NewEntry("Y", ""), envprecedence.NewEntry("X", ""), envprecedence.NewEntry("X", "")},
			[]string{`env[2].name: Duplicate value: "X"`, `env[3].name: Duplicate value: "X"`},
		},
		{"EXA-5 256 entries are allowed", numbered(256, ""), nil},
		{"EXA-5 257 are not", numbered(257, ""), []string{"env: Too many: 257: must have at most 256 items"}},
		{
			"EXA-5 the 256th is looked at, the 257th is not", append(append(numbered(255, ""), env{}), env{}),
			[]string{"env: Too many: 257: must have at most 256 items", "env[255].name: Required value"},
		},
		{"EXA-6 32 K of names and values are allowed", []env{envprecedence.NewEntry("A", strings.Repeat("v", 32768-1))}, nil},
		{
			"EXA-6 one byte more is not",
			[]env{envprecedence.NewEntry("AB", strings.Repeat("v", 32768-1))},
			[]string{"env: Too long: may not be more than 32768 bytes"},
		},
		{
			"EXA-6 neither '=' nor NUL nor escaping counts", append(numbered(255, ""), envprecedence.NewEntry("A", strings.Repeat("%", 32768-1-4*255))), nil,
		},
		{
			"EXA-7 EXA-25 a reserved name, and who reserves it",
			[]env{envprecedence.NewEntry("A", ""), envprecedence.NewEntry("KUBERNETES_EXEC_AUDIT_ID", "fake")},
			[]string{"env[1].name: Forbidden: KUBERNETES_EXEC_AUDIT_ID is reserved by the API server"},
		},
		{"a NUL byte", []env{envprecedence.NewEntry("A", "x\x00y")}, []string{"env[0].value: Invalid value: must not contain a NUL byte"}},
		{"invalid UTF-8", []env{envprecedence.NewEntry("A", "\xff\xfe")}, []string{"env[0].value: Invalid value: must be valid UTF-8"}},
		{
			"EXA-9 all faults at once, in order",
			[]env{envprecedence.NewEntry("1A", "\x00"), {}, envprecedence.NewEntry("OK", "v"), envprecedence.NewEntry("OK", ""), envprecedence.NewEntry(execaudit.AuditIDName, "")},
			[]string{
				`env[0].name: Invalid value: "1A": ` + strictRule,
				"env[0].value: Invalid value: must not contain a NUL byte",
				"env[1].name: Required value",
				`env[3].name: Duplicate value: "OK"`,
				"env[4].name: Forbidden: KUBERNETES_EXEC_AUDIT_ID is reserved by the API server",
			},
		},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			wantFaults(t, execaudit.Validate(c.envs, execaudit.ReservedList), c.want...)
		})
	}
	t.Run("EXA-7 the prefix profile", func(t *testing.T) {
		faults := execaudit.Validate([]env{envprecedence.NewEntry("KUBERNETES_X", ""), envprecedence.NewEntry("KUBE_X", "")}, execaudit.ReservedPrefix)
		wantFaults(t, faults, "env[0].name: Forbidden: KUBERNETES_X is reserved by Kubernetes: it begins with KUBERNETES_")
	})
}

func TestValidateRepeatsNoValue(t *testing.T) {
	const secret = "hunter2"
	t.Run("EXA-9 values never appear in a message", func(t *testing.T) {
		envs := append(numbered(300, secret), envprecedence.NewEntry(execaudit.AuditIDName, secret))
		for i := range envs {
			envs[i].Value = redact.New(strings.Repeat(secret, i+1) + "\x00\xff")
		}
		envs[1].Name, envs[2].Name, envs[3].Name = "", "1", envs[0].Name
		text := execaudit.Validate(envs, execaudit.ReservedPrefix).Error()
		if strings.Contains(text, secret) || strings.Contains(text, fmt.Sprintf("%q", secret)) {
			t.Errorf("a message repeats a value: %.200s", text)
		}
	})
	t.Run("a 1 MiB name is repeated in part", func(t *testing.T) {
		name := strings.Repeat("=", 1<<20)
		faults := execaudit.Validate([]env{envprecedence.NewEntry(name, ""), envprecedence.NewEntry(name, ""), envprecedence.NewEntry("KUBERNETES_"+name, "")}, execaudit.ReservedPrefix)
		if text := faults.Error(); len(execaudit.FaultsOf(faults)) != 6 || len(text) > 4096 {
			t.Errorf("%d bytes of faults, want 6 short ones", len(text))
		}
	})
}

// wantFaults fails unless err is Faults with these texts, or nil where none are wanted.
func wantFaults(t *testing.T, err error, want ...string) {
	t.Helper()
	var got []string
	for _, fault := range execaudit.FaultsOf(err) {
		got = append(got, fault.Error())
	}
	if (err == nil) != (len(want) == 0) || err != nil && !errors.Is(err, execaudit.ErrEnv) {
		t.Errorf("the error is %v, want one that is ErrEnv exactly when there are faults", err)
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("faults:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}
