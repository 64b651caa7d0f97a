package execaudit_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/kubernetes/pkg/apis/core"
	corevalidation "k8s.io/kubernetes/pkg/apis/core/validation"
	"pgregory.net/rapid"

	"github.com/lanyard-dev/lanyard/envprecedence"
	"github.com/lanyard-dev/lanyard/execaudit"
	"github.com/lanyard-dev/lanyard/execaudit/apiserver"
)

var (
	strict  = corevalidation.PodValidationOptions{}
	relaxed = corevalidation.PodValidationOptions{AllowRelaxedEnvironmentVariableValidation: true}
)

func TestNamesAgree(t *testing.T) {
	t.Run("EXA-2 as Kubernetes' strict rule, but for names that begin with two dots and the one dot", func(t *testing.T) {
		rapid.Check(t, func(t *rapid.T) {
			name := rapid.OneOf(rapid.String(), rapid.StringMatching(`[-._a-zA-Z][-._a-zA-Z0-9]{0,3}.?`)).Draw(t, "name")
			dots := name == "." || strings.HasPrefix(name, "..")
			if got, want := execaudit.ValidName(name), len(validation.IsEnvVarName(name)) == 0; got != want && !dots {
				t.Fatalf("ValidName(%q) = %t, Kubernetes says %t", name, got, want)
			}
		})
	})
	t.Run("EXA-9 with Kubernetes' own words", func(t *testing.T) {
		path := field.NewPath("env")
		for _, name := range []string{"", "1A", "A B", "A\n", "A=", "ä"} {
			want := corevalidation.ValidateEnv([]core.EnvVar{{Name: name}}, path, strict)
			got := apiserver.ErrorList(execaudit.Validate([]envprecedence.Entry{envprecedence.NewEntry(name, "")}, execaudit.ReservedList), path)
			if fmt.Sprint(got) != fmt.Sprint(want) {
				t.Errorf("%q: %v, Kubernetes says %v", name, got, want)
			}
		}
	})
}

func TestJSONAgrees(t *testing.T) {
	t.Run("an entry is written as corev1.EnvVar and read from it", func(t *testing.T) {
		rapid.Check(t, func(t *rapid.T) {
			theirs := corev1.EnvVar{Name: rapid.String().Draw(t, "name"), Value: rapid.String().Draw(t, "value")}
			if rapid.Bool().Draw(t, "from") {
				theirs.ValueFrom = &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: "spec.nodeName"}}
			}
			text, err := json.Marshal([]corev1.EnvVar{theirs})
			if err != nil {
				t.Fatal(err)
			}
			read, faults := execaudit.DecodeJSON(text)
			if len(read) != 1 || !read[0].Equal(envprecedence.NewEntry(theirs.Name, theirs.Value)) || (faults != nil) != (theirs.ValueFrom != nil) {
				t.Fatalf("%s read as %q, %v", text, environ(read), faults)
			}
			if written, err := execaudit.EncodeJSON(read); theirs.ValueFrom == nil && (err != nil || string(written) != string(text)) {
				t.Fatalf("written %s, %v, want %s", written, err, text)
			}
		})
	})
}

func BenchmarkValidate(b *testing.B) {
	path := field.NewPath("env")
	for _, n := range []int{1, 16, 64, 256} {
		envs := entries(n)
		theirs := make([]core.EnvVar, n)
		for i := range envs {
			theirs[i] = core.EnvVar{Name: envs[i].Name, Value: envs[i].Value.Reveal()}
		}
		faults := func(list field.ErrorList) error { return list.ToAggregate() }
		b.Run(fmt.Sprintf("%dentries", n), func(b *testing.B) {
			measure(b, "floor", func() error { return touch(envs) })
			measure(b, "lanyard", func() error { return execaudit.Validate(envs, execaudit.ReservedList) })
			measure(b, "kubernetes-strict", func() error { return faults(corevalidation.ValidateEnv(theirs, path, strict)) })
			measure(b, "kubernetes-relaxed", func() error { return faults(corevalidation.ValidateEnv(theirs, path, relaxed)) })
		})
	}
}

// touch looks at every byte once.
func touch(envs []envprecedence.Entry) error {
	for i := range envs {
		if strings.IndexByte(envs[i].Name, 0) >= 0 || strings.IndexByte(envs[i].Value.Reveal(), 0) >= 0 {
			return fmt.Errorf("entry %d holds a NUL byte", i)
		}
	}
	return nil
}
