package execaudit_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/lanyard-dev/lanyard/execaudit"
)

func TestEnvJSON(t *testing.T) {
	cases := []struct {
		name, json string
		want       execaudit.Env
	}{
		{"a value", `{"name":"A","value":"1"}`, execaudit.Env{Name: "A", Value: "1"}},
		{"EXA-3 no value is the empty value", `{"name":"A"}`, execaudit.Env{Name: "A"}},
		{
			"EXA-8 any valueFrom leaves its mark", `{"name":"A","valueFrom":{"fieldRef":{"fieldPath":"spec.nodeName"}}}`,
			execaudit.Env{Name: "A", ValueFrom: &execaudit.ValueFrom{}},
		},
		{"a null valueFrom is none", `{"name":"A","valueFrom":null}`, execaudit.Env{Name: "A"}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			var got execaudit.Env
			if err := json.Unmarshal([]byte(c.json), &got); err != nil || !reflect.DeepEqual(got, c.want) {
				t.Fatalf("Unmarshal(%s) = %s, valueFrom %v, %v", c.json, got, got.ValueFrom, err)
			}
		})
	}
	t.Run("written as corev1.EnvVar is", func(t *testing.T) {
		got, err := json.Marshal([]execaudit.Env{{Name: "A", Value: "1"}, {Name: "B"}})
		if want := `[{"name":"A","value":"1"},{"name":"B"}]`; err != nil || string(got) != want {
			t.Fatalf("Marshal = %s, %v, want %s", got, err, want)
		}
	})
}

func TestEnvHidesItsValue(t *testing.T) {
	const secret = "hunter2"
	e := execaudit.Env{Name: "TOKEN", Value: secret}
	flag := execaudit.EnvFlag{}
	if err := flag.Set("TOKEN=" + secret); err != nil {
		t.Fatal(err)
	}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
		for _, value := range []any{e, &e, []execaudit.Env{e}, map[string]execaudit.Env{"x": e}, struct{ E execaudit.Env }{e}, flag, &flag} {
			text := fmt.Sprintf(verb, value)
			if strings.Contains(text, secret) || strings.Contains(text, fmt.Sprintf("%x", secret)) {
				t.Errorf("Sprintf(%q, %T) shows the value", verb, value)
			}
			if _, address := value.(*execaudit.EnvFlag); !address && !strings.Contains(text, "TOKEN") {
				t.Errorf("Sprintf(%q, %T) = %s, want the name in it", verb, value, text)
			}
		}
	}
	var log bytes.Buffer
	slog.New(slog.NewJSONHandler(&log, nil)).Info("exec", "env", e)
	if strings.Contains(log.String(), secret) || !strings.Contains(log.String(), "TOKEN=[redacted]") {
		t.Errorf("slog wrote %s", log.String())
	}
}

func TestEnvStringBoundsTheName(t *testing.T) {
	long := execaudit.Env{Name: strings.Repeat("n", 1<<20)}
	if got := long.String(); len(got) > 128 {
		t.Errorf("String of a 1 MiB name has %d bytes", len(got))
	}
	if got, want := (execaudit.Env{Name: "a\nb"}).String(), `"a\nb"=[redacted]`; got != want {
		t.Errorf("String = %s, want %s", got, want)
	}
}

func TestEnviron(t *testing.T) {
	envs := []execaudit.Env{{Name: "B", Value: "x=y"}, {Name: "A"}, {Name: "B", Value: "2"}}
	if got, want := execaudit.Environ(envs), []string{"B=x=y", "A=", "B=2"}; !slices.Equal(got, want) {
		t.Errorf("Environ = %q, want %q", got, want)
	}
	if got := execaudit.Environ(nil); got != nil {
		t.Errorf("Environ(nil) = %q, want nil", got)
	}
}
