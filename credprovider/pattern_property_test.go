package credprovider_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/lanyard-dev/lanyard/credprovider"
)

func imageText() *rapid.Generator[string] {
	return rapid.StringMatching(`[ab]{1,2}(\.[ab]{1,2}){0,3}(:[12]{0,2})?(/[ab]{1,2}){0,2}`)
}

func patternText() *rapid.Generator[string] {
	return rapid.StringMatching(`[ab*]{1,3}(\.[ab*]{1,2}){0,3}(:[12]{0,2})?(/[ab]{0,2}){0,2}`)
}

func TestPatternLaws(t *testing.T) {
	t.Run("CRP-4 agrees with the rule written down", rapid.MakeCheck(func(t *rapid.T) {
		pattern, image := patternText().Draw(t, "pattern"), imageText().Draw(t, "image")
		p, err := credprovider.Compile(pattern)
		if err != nil {
			t.Fatalf("Compile(%q) = %v", pattern, err)
		}
		if got, want := p.Match(image), obviousMatch(pattern, image); got != want {
			t.Fatalf("Compile(%q).Match(%q) = %v, want %v", pattern, image, got, want)
		}
	}))
	t.Run("CRP-4 a matcher agrees with its patterns one by one", rapid.MakeCheck(func(t *rapid.T) {
		lists := rapid.SliceOfN(rapid.SliceOfN(patternText(), 0, 3), 0, 6).Draw(t, "lists")
		image := imageText().Draw(t, "image")
		m, err := credprovider.NewMatcher(lists)
		if err != nil {
			t.Fatal(err)
		}
		var want []int
		for i, list := range lists {
			if slices.ContainsFunc(list, func(text string) bool { p, _ := credprovider.Compile(text); return p.Match(image) }) {
				want = append(want, i)
			}
		}
		if got := m.AppendMatches(nil, image); !equal(got, want) {
			t.Fatalf("AppendMatches(nil, %q) of %q = %v, want %v", image, lists, got, want)
		}
	}))
	t.Run("CRP-4 so does one of so many patterns that they are looked up", rapid.MakeCheck(func(t *rapid.T) {
		texts := rapid.SliceOfN(rapid.StringMatching(`[ab*]{1,2}\.[ab*]{1,2}\.[ab]`), 9, 30).Draw(t, "patterns")
		image := rapid.StringMatching(`[ab]{1,2}\.[ab]{1,2}\.[ab]/x`).Draw(t, "image")
		var lists [][]string
		var want []int
		for i, text := range texts {
			lists = append(lists, []string{text})
			if obviousMatch(text, image) {
				want = append(want, i)
			}
		}
		m, err := credprovider.NewMatcher(lists)
		if err != nil {
			t.Fatal(err)
		}
		if got := m.AppendMatches(nil, image); !equal(got, want) {
			t.Fatalf("AppendMatches(nil, %q) of %q = %v, want %v", image, texts, got, want)
		}
	}))
	t.Run("CRP-4 no match across label counts", rapid.MakeCheck(func(t *rapid.T) {
		pattern := rapid.StringMatching(`[ab*]{1,3}(\.[ab*]{1,2}){0,3}`).Draw(t, "pattern")
		p, err := credprovider.Compile(pattern)
		if err != nil {
			t.Fatal(err)
		}
		if image := "extra." + pattern + "/x"; p.Match(image) {
			t.Fatalf("Compile(%q).Match(%q) = true, want false", pattern, image)
		}
	}))
}

// FuzzCompile holds that a pattern that compiles never panics, and that a longer path of the image never loses a match.
func FuzzCompile(f *testing.F) {
	for _, c := range matchCases() {
		f.Add(c.pattern, c.image)
	}
	f.Fuzz(func(t *testing.T, pattern, image string) {
		p, err := credprovider.Compile(pattern)
		if err != nil {
			return
		}
		matched := p.Match(image)
		m, err := credprovider.NewMatcher([][]string{{pattern}})
		if err != nil {
			t.Fatalf("NewMatcher(%q) = %v after Compile", pattern, err)
		}
		if got := len(m.AppendMatches(nil, image)) == 1; got != matched {
			t.Fatalf("matcher of %q on %q = %v, the pattern says %v", pattern, image, got, matched)
		}
	})
}
