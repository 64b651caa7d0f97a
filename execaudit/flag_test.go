package execaudit_test

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"reflect"
	"strings"
	"testing"

	"github.com/lanyard-dev/lanyard/envprecedence"
	"github.com/lanyard-dev/lanyard/execaudit"
	"github.com/lanyard-dev/lanyard/redact"
)

func TestParseAssignment(t *testing.T) {
	cases := []struct {
		name, text string
		want       env
	}{
		{"EXA-24 plain", "KEY=VALUE", envprecedence.NewEntry("KEY", "VALUE")},
		{"EXA-24 the value keeps '='", "KEY=a=b==", envprecedence.NewEntry("KEY", "a=b==")},
		{"EXA-24 the value keeps commas", "KEY=a,b,OTHER=c", envprecedence.NewEntry("KEY", "a,b,OTHER=c")},
		{"EXA-24 the value keeps spaces and quotes", `KEY= a "b" `, envprecedence.NewEntry("KEY", ` a "b" `)},
		{"EXA-3 EXA-24 an empty value", "KEY=", envprecedence.NewEntry("KEY", "")},
		{"a name that Validate will refuse", "1 2=x", envprecedence.NewEntry("1 2", "x")},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if got, err := execaudit.ParseAssignment(c.text); !got.Equal(c.want) || err != nil {
				t.Errorf("ParseAssignment(%q) = %q, %v", c.text, environ([]env{got}), err)
			}
		})
	}
	bad := map[string]string{
		"EXA-24 KEY alone is an error": "hunter2",
		"empty":                        "",
		"no name":                      "=hunter2",
	}
	for name, text := range bad {
		t.Run(name, func(t *testing.T) {
			got, err := execaudit.ParseAssignment(text)
			if !errors.Is(err, execaudit.ErrNotAssignment) || strings.Contains(err.Error(), "hunter2") || got != (env{}) {
				t.Errorf("ParseAssignment(%q) = %v, %v", text, got, err)
			}
		})
	}
}

// pflagValue is spf13/pflag's Value.
type pflagValue interface {
	flag.Value
	Type() string
}

func TestEnvFlag(t *testing.T) {
	t.Run("EXA-24 repeatable, in order", func(t *testing.T) {
		var envs execaudit.EnvFlag
		var _ pflagValue = &envs
		flags := flag.NewFlagSet("exec", flag.ContinueOnError)
		flags.Var(&envs, "env", "environment `NAME=VALUE` of the process")
		if err := flags.Parse([]string{"--env", "B=1,2", "-env=A=x y=z", "--env=B="}); err != nil {
			t.Fatal(err)
		}
		want := []env{envprecedence.NewEntry("B", "1,2"), envprecedence.NewEntry("A", "x y=z"), envprecedence.NewEntry("B", "")}
		if got := envs.Envs(); !reflect.DeepEqual(got, want) {
			t.Errorf("Envs() = %q", environ(got))
		}
		if got, want := envs.String(), "B=[redacted],A=[redacted],B=[redacted]"; got != want {
			t.Errorf("String() = %s, want %s", got, want)
		}
	})
	t.Run("an error names the position", func(t *testing.T) {
		var envs execaudit.EnvFlag
		_ = envs.Set("A=1")
		err := envs.Set("hunter2")
		if want := "entry 2: must be NAME=VALUE: there is no '='"; err == nil || err.Error() != want {
			t.Errorf("Set = %v, want %s", err, want)
		}
		if got := envs.Envs(); len(got) != 1 {
			t.Errorf("a refused entry was kept: %q", environ(got))
		}
	})
	t.Run("the zero value prints in a usage text", func(t *testing.T) {
		flags := flag.NewFlagSet("exec", flag.ContinueOnError)
		flags.SetOutput(io.Discard)
		flags.Var(&execaudit.EnvFlag{}, "env", "environment")
		flags.PrintDefaults()
		if got := new(execaudit.EnvFlag).Type(); got != "NAME=VALUE" {
			t.Errorf("Type() = %s", got)
		}
	})
	t.Run("Envs is a copy", func(t *testing.T) {
		var envs execaudit.EnvFlag
		_ = envs.Set("A=1")
		envs.Envs()[0].Value = redact.New("changed")
		if got := envs.Envs()[0].Value.Reveal(); got != "1" {
			t.Errorf("a caller changed the flag: %s", got)
		}
	})
}

func TestEnvFlagHidesValues(t *testing.T) {
	const secret = "hunter2"
	var flag execaudit.EnvFlag
	if err := flag.Set("TOKEN=" + secret); err != nil {
		t.Fatal(err)
	}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
		for _, value := range []any{flag, &flag, struct{ F execaudit.EnvFlag }{flag}, flag.Envs(), struct{ f execaudit.EnvFlag }{flag}} {
			text := fmt.Sprintf(verb, value)
			if strings.Contains(text, secret) || strings.Contains(text, fmt.Sprintf("%x", secret)) {
				t.Errorf("MOD-9 Sprintf(%q, %T) shows the value", verb, value)
			}
		}
	}
	if got, want := flag.String(), "TOKEN=[redacted]"; got != want {
		t.Errorf("String = %s, want %s", got, want)
	}
}
