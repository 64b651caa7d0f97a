package envprecedence_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/lanyard-dev/lanyard/envprecedence"
)

func TestResolve(t *testing.T) {
	t.Run("ENV-4 nothing remains of nothing", func(t *testing.T) {
		if got := envprecedence.Resolve(nil, nil, []envprecedence.Entry{}); got != nil {
			t.Errorf("Resolve(…) = %#v, want nil", got)
		}
	})
	t.Run("ENV-4 a name with an equals sign and none at all are names like any other", func(t *testing.T) {
		list := []envprecedence.Entry{
			envprecedence.NewEntry("", "1"), envprecedence.NewEntry("A=B", "2"), envprecedence.NewEntry("A", "3"), envprecedence.NewEntry("", "4"),
		}
		got := envprecedence.Resolve(nil, list)
		if !slices.EqualFunc(got, list[1:], envprecedence.Entry.Equal) {
			t.Errorf("Resolve(…) = %v, want %v", got, list[1:])
		}
	})
	t.Run("ENV-7 the result is the caller's own", func(t *testing.T) {
		list := []envprecedence.Entry{envprecedence.NewEntry("A", "1")}
		envprecedence.Resolve(nil, list)[0].Name = "B"
		if list[0].Name != "A" {
			t.Error("the result shares memory with its tier")
		}
	})
	for _, n := range []int{1, 32, 33, 512, 513, 5000} {
		t.Run(fmt.Sprintf("ENV-4 %d entries over as many", n), func(t *testing.T) {
			_, request := sizes(0, n)
			entries, err := envprecedence.Parse(request)
			if err != nil {
				t.Fatal(err)
			}
			if got := envprecedence.Resolve(nil, entries, entries); !slices.EqualFunc(got, entries, envprecedence.Entry.Equal) {
				t.Errorf("Resolve(…) has %d entries, want %d", len(got), n)
			}
		})
	}
	t.Run("ENV-8 one allocation for up to 512 entries, two to parse them", func(t *testing.T) {
		for _, n := range []int{1, 32, 257, 512} {
			_, request := sizes(0, n)
			entries, _ := envprecedence.Parse(request)
			if got := testing.AllocsPerRun(20, func() { _ = envprecedence.Resolve(nil, entries) }); got > 1 {
				t.Errorf("Resolve of %d entries allocates %v times", n, got)
			}
			if got := testing.AllocsPerRun(20, func() { _, _ = envprecedence.Parse(request) }); got > 2 {
				t.Errorf("Parse of %d entries allocates %v times", n, got)
			}
		}
	})
}
