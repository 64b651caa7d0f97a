package envprecedence_test

import (
	"slices"
	"testing"

	"github.com/lanyard-dev/lanyard/envprecedence"
)

func TestMerge(t *testing.T) {
	t.Run("ENV-2 a key in several tiers takes the value of the highest", func(t *testing.T) {
		got, _, err := envprecedence.Merge(envprecedence.Tiers{
			Caller:    []string{"A=caller", "B=caller"},
			Container: []string{"Z=1", "A=image", "A=pod"},
			APIServer: []string{"A=apiserver"},
		}, envprecedence.Linux)
		want := []string{"A=apiserver", "B=caller", "Z=1"}
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("Merge(…) = %v, %v, want %v", got, err, want)
		}
	})
}
