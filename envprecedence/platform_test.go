package envprecedence_test

import (
	"slices"
	"testing"

	"github.com/lanyard-dev/lanyard/envprecedence"
)

func TestWindows(t *testing.T) {
	for _, c := range []mergeCase{
		{
			"ENV-13 names compare without regard to case, and the winner's spelling stays",
			envprecedence.Tiers{Caller: []string{"PATH=caller"}, Container: []string{"Path=image", "path=pod", "TEMP=x"}},
			[]string{"PATH=caller", "TEMP=x"},
		},
		{
			"ENV-13 within a tier the last entry wins, with its spelling",
			envprecedence.Tiers{Caller: []string{"Long_Variable_Name=1", "B=2", "LONG_variable_name=3"}},
			[]string{"B=2", "LONG_variable_name=3"},
		},
		{
			"ENV-13 letters outside ASCII too",
			envprecedence.Tiers{Caller: []string{"ÄÖÜ=1"}, Container: []string{"äöü=2", "ж=3", "Ж=4"}},
			[]string{"ÄÖÜ=1", "Ж=4"},
		},
		{
			"ENV-13 a rune outside ASCII never equals one in ASCII",
			envprecedence.Tiers{Caller: []string{"K=1", "S=1", "I=1"}, Container: []string{"\u212a=2", "ſ=2", "ı=2"}},
			[]string{"K=1", "S=1", "I=1", "\u212a=2", "ſ=2", "ı=2"},
		},
		{
			"ENV-13 broken bytes equal only themselves",
			envprecedence.Tiers{Caller: []string{"a\xff=1"}, Container: []string{"A\xff=2", "a\xfe=3", "a\ufffd=4"}},
			[]string{"a\xff=1", "a\xfe=3", "a\ufffd=4"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, _, err := envprecedence.Merge(c.tiers, envprecedence.PlatformWindows)
			if err != nil || !slices.Equal(got, c.want) {
				t.Errorf("Merge(…) = %q, %v, want %q", got, err, c.want)
			}
			base, _ := envprecedence.Prepare(c.tiers.Container, envprecedence.PlatformWindows)
			if got, err = base.Merge(nil, c.tiers.Caller); err != nil || !slices.Equal(got, c.want) {
				t.Errorf("Prepare(…).Merge(…) = %q, %v, want %q", got, err, c.want)
			}
		})
	}
	t.Run("ENV-13 the hidden entries of a drive have no name", func(t *testing.T) {
		_, dropped := envprecedence.Prepare([]string{`=C:=C:\dir`}, envprecedence.PlatformWindows)
		if len(dropped) != 1 || dropped[0].Err != envprecedence.ErrEmptyName {
			t.Errorf("Prepare(…) dropped %v, want one entry without a name", dropped)
		}
	})
	t.Run("ENV-13 on Linux case counts", func(t *testing.T) {
		got, _, err := envprecedence.Merge(envprecedence.Tiers{Caller: []string{"a=1", "A=2"}}, envprecedence.PlatformLinux)
		if want := []string{"a=1", "A=2"}; err != nil || !slices.Equal(got, want) {
			t.Errorf("Merge(…) = %q, %v, want %q", got, err, want)
		}
	})
}
