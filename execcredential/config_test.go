package execcredential_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/lanyard-dev/lanyard/execcredential"
	"github.com/lanyard-dev/lanyard/redact"
)

const sesame = "open-sesame-4711"

func TestConfigValidate(t *testing.T) {
	good := execcredential.ExecConfig{Command: "c", APIVersion: execcredential.V1, InteractiveMode: execcredential.InteractiveNever}
	cases := []struct {
		name   string
		change func(*execcredential.ExecConfig)
		fields []string
	}{
		{"ECR-2 a complete configuration", func(*execcredential.ExecConfig) {}, nil},
		{"ECR-2 command is required", func(c *execcredential.ExecConfig) { c.Command = "" }, []string{"command"}},
		{"ECR-2 apiVersion is required", func(c *execcredential.ExecConfig) { c.APIVersion = "" }, []string{"apiVersion"}},
		{"ECR-2 apiVersion is one of three", func(c *execcredential.ExecConfig) { c.APIVersion = "client.authentication.k8s.io/v2" }, []string{"apiVersion"}},
		{"ECR-2 v1 requires a mode", func(c *execcredential.ExecConfig) { c.InteractiveMode = "" }, []string{"interactiveMode"}},
		{"ECR-2 v1beta1 has a default mode", func(c *execcredential.ExecConfig) {
			c.InteractiveMode, c.APIVersion = "", execcredential.V1Beta1
		}, nil},
		{"ECR-2 v1alpha1 has a default mode", func(c *execcredential.ExecConfig) {
			c.InteractiveMode, c.APIVersion = "", execcredential.V1Alpha1
		}, nil},
		{"ECR-2 modes are matched by case", func(c *execcredential.ExecConfig) { c.InteractiveMode = "never" }, []string{"interactiveMode"}},
		{"ECR-2 an environment entry needs a name", func(c *execcredential.ExecConfig) {
			c.Env = []execcredential.EnvVar{{Name: "A"}, {Value: redact.New("x")}}
		}, []string{"env[1].name"}},
		{
			"ECR-2 all faults are reported in order", func(c *execcredential.ExecConfig) { *c = execcredential.ExecConfig{InteractiveMode: "x"} },
			[]string{"command", "apiVersion", "interactiveMode"},
		},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			config := good
			c.change(&config)
			if got := fields(config.Validate()); fmt.Sprint(got) != fmt.Sprint(c.fields) {
				t.Errorf("Validate faults = %v, want %v", got, c.fields)
			}
		})
	}
}

// fields returns the fields that a joined error names, in order.
func fields(err error) []string {
	var names []string
	var field *execcredential.FieldError
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		for _, one := range joined.Unwrap() {
			if errors.As(one, &field) {
				names = append(names, field.Field)
			}
		}
	}
	return names
}

func TestConfigDefaulted(t *testing.T) {
	for version, want := range map[string]execcredential.InteractiveMode{
		execcredential.V1: "", execcredential.V1Beta1: execcredential.InteractiveIfAvailable, execcredential.V1Alpha1: execcredential.InteractiveIfAvailable, "other": "",
	} {
		t.Run("ECR-2 default mode of "+version, func(t *testing.T) {
			if got := (execcredential.ExecConfig{APIVersion: version}).Defaulted().InteractiveMode; got != want {
				t.Errorf("Defaulted().InteractiveMode = %q, want %q", got, want)
			}
		})
	}
	t.Run("ECR-2 a mode that is set stays", func(t *testing.T) {
		config := execcredential.ExecConfig{APIVersion: execcredential.V1Beta1, InteractiveMode: execcredential.InteractiveAlways}
		if got := config.Defaulted().InteractiveMode; got != execcredential.InteractiveAlways {
			t.Errorf("Defaulted().InteractiveMode = %q, want Always", got)
		}
	})
}
