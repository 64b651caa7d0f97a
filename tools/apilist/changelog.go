package apilist

import (
	"regexp"
	"slices"
	"strings"
)

// Changes returns the exported top-level names whose declarations differ between
// two listings, added and removed ones included, in order.
func Changes(before, after string) []string {
	old, now := lines(before), lines(after)
	var out []string
	for line := range now {
		if !old[line] {
			out = append(out, declared(line)...)
		}
	}
	for line := range old {
		if !now[line] {
			out = append(out, declared(line)...)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func lines(listing string) map[string]bool {
	set := map[string]bool{}
	for line := range strings.Lines(listing) {
		if line = strings.TrimSpace(line); line != "" && line != ")" && line != "}" {
			set[line] = true
		}
	}
	return set
}

var declaration = regexp.MustCompile(`^(?:func (?:\(\w*\s*\*?(\w+)[^)]*\) )?|type |var |const )?([A-Z]\w*)`)

// declared returns the name that a line of a listing declares: for a method its
// type, for a field or constant its own name.
func declared(line string) []string {
	m := declaration.FindStringSubmatch(line)
	switch {
	case m == nil:
		return nil
	case m[1] != "":
		return []string{m[1]}
	}
	return []string{m[2]}
}

// Unmentioned returns the names that stand nowhere in the text as whole words.
func Unmentioned(names []string, text string) []string {
	words := map[string]bool{}
	for _, w := range regexp.MustCompile(`\w+`).FindAllString(text, -1) {
		words[w] = true
	}
	var out []string
	for _, n := range names {
		if !words[n] {
			out = append(out, n)
		}
	}
	return out
}
