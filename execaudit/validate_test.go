package execaudit_test

import (
	"fmt"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/lanyard-dev/lanyard/execaudit"
)

// strictRule is the wording that Kubernetes has for this pattern; peers/execaudit
// holds it equal to the original.
const strictRule = "a valid environment variable name must consist of alphabetic characters, digits, '_', '-', or '.', " +
	"and must not start with a digit (e.g. 'my.env-name',  or 'MY_ENV.NAME',  or 'MyEnvName1', " +
	"regex used for validation is '[-._a-zA-Z][-._a-zA-Z0-9]*')"

type env = execaudit.Env

func numbered(n int, value string) []env {
	envs := make([]env, n)
	for i := range envs {
		envs[i] = env{Name: fmt.Sprintf("N%03d", i), Value: value}
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
		{"EXA-3 an empty value is valid", []env{{Name: "A"}}, nil},
		{
			"values are literal", []env{{Name: "A", Value: "$FOO ${FOO} $(FOO) %FOO% `x` ~ '\" \n\r\t\x01 äöü = ,"}}, nil,
		},
		{"EXA-2 the name is required", []env{{Value: "x"}}, []string{"env[0].name: Required value"}},
		{"EXA-2 two empty names are missing, not duplicates", []env{{}, {}}, []string{"env[0].name: Required value", "env[1].name: Required value"}},
		{"EXA-2 the whole name must match", []env{{Name: "A"}, {Name: "A\n"}}, []string{`env[1].name: Invalid value: "A\n": ` + strictRule}},
		{"EXA-2 no leading digit", []env{{Name: "1A"}}, []string{`env[0].name: Invalid value: "1A": ` + strictRule}},
		{
			"EXA-4 every further entry of a name is a duplicate",
			[]env{{Name: "X"}, {Name: "Y"}, {Name: "X"}, {Name: "X"}},
			[]string{`env[2].name: Duplicate value: "X"`, `env[3].name: Duplicate value: "X"`},
		},
		{"EXA-5 256 entries are allowed", numbered(256, ""), nil},
		{"EXA-5 257 are not", numbered(257, ""), []string{"env: Too many: 257: must have at most 256 items"}},
		{
			"EXA-5 the 256th is looked at, the 257th is not", append(append(numbered(255, ""), env{}), env{}),
			[]string{"env: Too many: 257: must have at most 256 items", "env[255].name: Required value"},
		},
		{"EXA-6 32 K of names and values are allowed", []env{{Name: "A", Value: strings.Repeat("v", 32768-1)}}, nil},
		{
			"EXA-6 one byte more is not",
			[]env{{Name: "AB", Value: strings.Repeat("v", 32768-1)}},
			[]string{"env: Too long: may not be more than 32768 bytes"},
		},
		{
			"EXA-6 neither '=' nor NUL nor escaping counts", append(numbered(255, ""), env{Name: "A", Value: strings.Repeat("%", 32768-1-4*255)}), nil,
		},
		{
			"EXA-7 EXA-25 a reserved name, and who reserves it",
			[]env{{Name: "A"}, {Name: "KUBERNETES_EXEC_AUDIT_ID", Value: "fake"}},
			[]string{"env[1].name: Forbidden: KUBERNETES_EXEC_AUDIT_ID is reserved by the API server"},
		},
		{
			"EXA-8 valueFrom",
			[]env{{Name: "A", ValueFrom: &execaudit.ValueFrom{}}},
			[]string{"env[0].valueFrom: Forbidden: may not be specified in an exec request"},
		},
		{"a NUL byte", []env{{Name: "A", Value: "x\x00y"}}, []string{"env[0].value: Invalid value: must not contain a NUL byte"}},
		{"invalid UTF-8", []env{{Name: "A", Value: "\xff\xfe"}}, []string{"env[0].value: Invalid value: must be valid UTF-8"}},
		{
			"EXA-9 all faults at once, in order",
			[]env{{Name: "1A", Value: "\x00"}, {}, {Name: "OK", Value: "v"}, {Name: "OK", ValueFrom: &execaudit.ValueFrom{}}, {Name: execaudit.AuditIDName}},
			[]string{
				`env[0].name: Invalid value: "1A": ` + strictRule,
				"env[0].value: Invalid value: must not contain a NUL byte",
				"env[1].name: Required value",
				`env[3].name: Duplicate value: "OK"`,
				"env[3].valueFrom: Forbidden: may not be specified in an exec request",
				"env[4].name: Forbidden: KUBERNETES_EXEC_AUDIT_ID is reserved by the API server",
			},
		},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			wantFaults(t, execaudit.Validate(c.envs, field.NewPath("env"), execaudit.ReserveList), c.want...)
		})
	}
	t.Run("EXA-7 the prefix profile", func(t *testing.T) {
		faults := execaudit.Validate([]env{{Name: "KUBERNETES_X"}, {Name: "KUBE_X"}}, field.NewPath("env"), execaudit.ReservePrefix)
		wantFaults(t, faults, "env[0].name: Forbidden: KUBERNETES_X is reserved by Kubernetes: it begins with KUBERNETES_")
	})
	t.Run("EXA-9 a path of the caller's", func(t *testing.T) {
		faults := execaudit.Validate([]env{{}}, field.NewPath("options", "env"), execaudit.ReserveList)
		wantFaults(t, faults, "options.env[0].name: Required value")
	})
}

func TestValidateRepeatsNoValue(t *testing.T) {
	const secret = "hunter2"
	t.Run("EXA-9 values never appear in a message", func(t *testing.T) {
		envs := append(numbered(300, secret), env{Name: execaudit.AuditIDName, Value: secret})
		for i := range envs {
			envs[i].Value += strings.Repeat(secret, i) + "\x00\xff"
			envs[i].ValueFrom = &execaudit.ValueFrom{}
		}
		envs[1].Name, envs[2].Name, envs[3].Name = "", "1", envs[0].Name
		text := execaudit.Validate(envs, nil, execaudit.ReservePrefix).ToAggregate().Error()
		if strings.Contains(text, secret) || strings.Contains(text, fmt.Sprintf("%q", secret)) {
			t.Errorf("a message repeats a value: %.200s", text)
		}
	})
	t.Run("a 1 MiB name is repeated in part", func(t *testing.T) {
		name := strings.Repeat("=", 1<<20)
		faults := execaudit.Validate([]env{{Name: name}, {Name: name}, {Name: "KUBERNETES_" + name}}, nil, execaudit.ReservePrefix)
		if text := faults.ToAggregate().Error(); len(faults) != 6 || len(text) > 4096 {
			t.Errorf("%d faults of %d bytes, want 6 short ones", len(faults), len(text))
		}
	})
}

func wantFaults(t *testing.T, faults field.ErrorList, want ...string) {
	t.Helper()
	got := make([]string, len(faults))
	for i, fault := range faults {
		got[i] = fault.Error()
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("faults:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}
