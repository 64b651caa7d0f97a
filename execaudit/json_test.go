package execaudit_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/lanyard-dev/lanyard/envprecedence"
	"github.com/lanyard-dev/lanyard/execaudit"
)

func TestDecodeJSON(t *testing.T) {
	const from = `{"name":"A","value":"hunter2","valueFrom":{"fieldRef":{"fieldPath":"spec.nodeName"}}}`
	cases := []struct {
		name, list string
		want       []env
		faults     []string
	}{
		{"in order, duplicates kept", `[{"name":"B","value":"1"},{"name":"A"},{"name":"B","value":""}]`, []env{
			envprecedence.NewEntry("B", "1"), envprecedence.NewEntry("A", ""), envprecedence.NewEntry("B", ""),
		}, nil},
		{"EXA-8 any valueFrom is refused, by position", `[{"name":"B"},` + from + `,{"name":"C","valueFrom":{}}]`, []env{
			envprecedence.NewEntry("B", ""), envprecedence.NewEntry("A", "hunter2"), envprecedence.NewEntry("C", ""),
		}, []string{
			"env[1].valueFrom: Forbidden: may not be specified in an exec request",
			"env[2].valueFrom: Forbidden: may not be specified in an exec request",
		}},
		{"EXA-8 a valueFrom is refused whatever it is", `[{"name":"A","valueFrom":"hunter2"},{"name":"B","valueFrom":[]}]`, []env{
			envprecedence.NewEntry("A", ""), envprecedence.NewEntry("B", ""),
		}, []string{
			"env[0].valueFrom: Forbidden: may not be specified in an exec request",
			"env[1].valueFrom: Forbidden: may not be specified in an exec request",
		}},
		{"EXA-8 a null valueFrom is none", `[{"name":"A","valueFrom":null}]`, []env{envprecedence.NewEntry("A", "")}, nil},
		{"an empty list", `[]`, nil, nil},
		{"null", `null`, nil, nil},
		{"an object", `{"name":"hunter2"}`, nil, []string{"env: Invalid value: must be a list of names and values"}},
		{"a value that is a number", `[{"name":"A","value":4711}]`, nil, []string{"env: Invalid value: must be a list of names and values"}},
		{"no JSON", `hunter2`, nil, []string{"env: Invalid value: must be a list of names and values"}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			got, faults := execaudit.DecodeJSON([]byte(c.list))
			var texts []string
			for _, fault := range execaudit.FaultsOf(faults) {
				texts = append(texts, fault.Error())
			}
			if !reflect.DeepEqual(got, c.want) || !reflect.DeepEqual(texts, c.faults) {
				t.Errorf("DecodeJSON(%s) = %q, %q, want %q, %q", c.list, environ(got), texts, environ(c.want), c.faults)
			}
			if strings.Contains(strings.Join(texts, ""), "hunter2") {
				t.Errorf("a fault repeats a value: %q", texts)
			}
		})
	}
	t.Run("EXA-8 EXA-9 beside what Validate finds, each at its place", func(t *testing.T) {
		envs, faults := execaudit.DecodeJSON([]byte(`[{"name":"1"},` + from + `,{"name":""}]`))
		more := execaudit.Validate(envs, execaudit.ReservedList)
		var got []string
		for _, fault := range execaudit.FaultsOf(execaudit.JoinFaults(faults, more)) {
			got = append(got, fmt.Sprint(fault.Index, fault.Field, " ", fault.Kind))
		}
		want := []string{"0name Invalid value", "1valueFrom Forbidden", "2name Required value"}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("faults %q, want %q", got, want)
		}
	})
}

func TestEncodeJSON(t *testing.T) {
	t.Run("written as corev1.EnvVar is", func(t *testing.T) {
		got, err := execaudit.EncodeJSON([]env{envprecedence.NewEntry("A", "1"), envprecedence.NewEntry("B", "")})
		if want := `[{"name":"A","value":"1"},{"name":"B"}]`; err != nil || string(got) != want {
			t.Errorf("EncodeJSON = %s, %v, want %s", got, err, want)
		}
	})
	t.Run("none", func(t *testing.T) {
		if got, err := execaudit.EncodeJSON(nil); err != nil || string(got) != "[]" {
			t.Errorf("EncodeJSON(nil) = %s, %v, want []", got, err)
		}
	})
	t.Run("EXA-32 what is encoded decodes to itself", func(t *testing.T) {
		rapid.Check(t, func(t *rapid.T) {
			envs := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) env {
				return envprecedence.NewEntry(rapid.String().Draw(t, "name"), rapid.String().Draw(t, "value"))
			}), 1, 8).Draw(t, "envs")
			text, err := execaudit.EncodeJSON(envs)
			if err != nil {
				t.Fatal(err)
			}
			if got, faults := execaudit.DecodeJSON(text); !reflect.DeepEqual(got, envs) || faults != nil {
				t.Fatalf("DecodeJSON(%s) = %q, %v", text, environ(got), faults)
			}
		})
	})
}

func FuzzDecodeJSON(f *testing.F) {
	for _, seed := range []string{`[]`, `null`, `[{"name":"A","value":"1"}]`, `[{"name":"A","valueFrom":{}}]`, `[{"Name":"A"},{}]`, `[[]]`, `[{"value":"\ud800"}]`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, list []byte) {
		envs, faults := execaudit.DecodeJSON(list)
		all := execaudit.FaultsOf(faults)
		for _, fault := range all {
			if fault.Kind != execaudit.FaultForbidden && (fault.Kind != execaudit.FaultInvalid || envs != nil || len(all) != 1) {
				t.Fatalf("DecodeJSON(%s) = %d entries, %v", list, len(envs), faults)
			}
		}
		if faults == nil && !json.Valid(list) {
			t.Fatalf("DecodeJSON(%s) accepts what is not JSON", list)
		}
	})
}
