package apiserver_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/util/validation/field"
	"pgregory.net/rapid"

	"github.com/lanyard-dev/lanyard/envprecedence"
	"github.com/lanyard-dev/lanyard/execaudit"
	"github.com/lanyard-dev/lanyard/execaudit/apiserver"
)

func TestErrorList(t *testing.T) {
	t.Run("EXA-9 a fault has Kubernetes' text, with and without apimachinery", func(t *testing.T) {
		name := rapid.OneOf(rapid.SampledFrom([]string{"", "A", "1A", "a\n", execaudit.AuditIDName, "KUBERNETES_X"}), rapid.String())
		rapid.Check(t, func(t *rapid.T) {
			var envs []env
			for range rapid.IntRange(0, 5).Draw(t, "n") {
				value := rapid.SampledFrom([]string{"", "v", "\x00", "\xff", strings.Repeat("x", execaudit.MaxEnvBytes)}).Draw(t, "value")
				envs = append(envs, envprecedence.NewEntry(name.Draw(t, "name"), value))
			}
			if rapid.IntRange(0, 9).Draw(t, "many") == 0 {
				envs = append(envs, make([]env, 300)...)
			}
			err := execaudit.Validate(envs, execaudit.ReservedPrefix)
			list := apiserver.ErrorList(err, nil)
			faults := execaudit.FaultsOf(err)
			if len(list) != len(faults) {
				t.Fatalf("%d errors of %d faults", len(list), len(faults))
			}
			for i, fault := range faults {
				if got, want := list[i].Error(), fault.Error(); got != want {
					t.Fatalf("ErrorList has %q, the fault reads %q", got, want)
				}
			}
		})
	})
	t.Run("EXA-9 the whole list reads as Kubernetes prints it", func(t *testing.T) {
		for _, query := range []string{"env=A", "env=A&env==1&env=%zz"} {
			_, err := execaudit.DecodeQuery(query, execaudit.Limits{})
			if got, want := err.Error(), apiserver.ErrorList(err, nil).ToAggregate().Error(); got != want {
				t.Errorf("the error reads %s, Kubernetes prints %s", got, want)
			}
		}
	})
	t.Run("EXA-9 a path of the caller's", func(t *testing.T) {
		list := apiserver.ErrorList(fmt.Errorf("refused: %w", execaudit.Validate([]env{{}}, execaudit.ReservedList)), field.NewPath("options", "env"))
		if len(list) != 1 || list[0].Error() != "options.env[0].name: Required value" {
			t.Errorf("ErrorList = %v", list)
		}
	})
	t.Run("limits of one", func(t *testing.T) {
		_, err := execaudit.DecodeQuery("env=A=1&env=B=2", execaudit.Limits{Entries: 1, Bytes: 1})
		want := "[env: Too many: 2: must have at most 1 item, env: Too long: may not be more than 1 byte]"
		if got := apiserver.ErrorList(err, nil).ToAggregate().Error(); got != want || err.Error() != want {
			t.Errorf("ErrorList = %s, the error %v, want %s", got, err, want)
		}
	})
	t.Run("no error, and one without faults", func(t *testing.T) {
		if list := apiserver.ErrorList(nil, nil); list != nil {
			t.Errorf("ErrorList(nil) = %v", list)
		}
		if list := apiserver.ErrorList(errors.New("x"), nil); len(list) != 1 || list[0].Type != field.ErrorTypeInternal {
			t.Errorf("ErrorList = %v, want an internal error", list)
		}
	})
}
