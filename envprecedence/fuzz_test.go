package envprecedence_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/lanyard-dev/lanyard/envprecedence"
)

// lines splits a fuzzed text into environ strings; "" is none.
func lines(text string) []string {
	if text == "" {
		return nil
	}
	return strings.Split(text, "\n")
}

func FuzzMerge(f *testing.F) {
	for _, c := range mergeCases {
		f.Add(strings.Join(c.tiers.Runtime, "\n"), strings.Join(c.tiers.Caller, "\n"), strings.Join(c.tiers.Container, "\n"))
	}
	f.Add("", "A=1\nA=2", "NOEQUALS\n=x\n\nA=3")
	f.Add("A=1\nNOEQUALS", "", "")
	f.Fuzz(func(t *testing.T, runtime, caller, container string) {
		tiers := envprecedence.Tiers{Runtime: lines(runtime), Caller: lines(caller), Container: lines(container)}
		got, _, err := envprecedence.Merge(tiers, envprecedence.PlatformLinux)
		base, _ := envprecedence.Prepare(tiers.Container, envprecedence.PlatformLinux)
		prepared, preparedErr := base.Merge(tiers.Runtime, tiers.Caller)
		if (err == nil) != (preparedErr == nil) || !slices.Equal(got, prepared) {
			t.Fatalf("Merge(%q) = %q, %v, but prepared it is %q, %v", tiers, got, err, prepared, preparedErr)
		}
		if want := model(tiers); err == nil && !slices.Equal(got, want) {
			t.Fatalf("Merge(%q) = %q, want %q", tiers, got, want)
		}
		if _, _, err := envprecedence.Merge(tiers, envprecedence.PlatformWindows); (err == nil) != (preparedErr == nil) {
			t.Fatalf("Merge(%q) on Windows errs with %v, want as on Linux: %v", tiers, err, preparedErr)
		}
	})
}

func FuzzParse(f *testing.F) {
	for _, c := range mergeCases {
		f.Add(strings.Join(c.tiers.Container, "\n"))
	}
	for _, c := range faultCases {
		f.Add(fmt.Sprintf("%s=%.100s", c.entry.Name, c.entry.Value.Reveal()))
	}
	f.Fuzz(func(t *testing.T, text string) {
		environ := lines(text)
		entries, err := envprecedence.Parse(environ)
		if err != nil {
			if envprecedence.Validate(environ, 0) == nil {
				t.Fatalf("Validate(%q) accepts what Parse refuses: %v", environ, err)
			}
			return
		}
		again, err := envprecedence.Environ(entries, 0)
		if valid := envprecedence.Validate(environ, 0); (err == nil) != (valid == nil) || err == nil && !slices.Equal(again, environ) {
			t.Fatalf("Environ(Parse(%q)) = %q, %v, want it back, or %v", environ, again, err, valid)
		}
	})
}
