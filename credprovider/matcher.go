package credprovider

import (
	"slices"
	"strings"
)

// Matcher finds which of many lists of patterns an image matches. Its cost hardly grows with their number: patterns are
// found by the host when it has no wildcards, and by the rarest of their labels otherwise.
// It is immutable and safe for concurrent use.
type Matcher struct {
	few     []rule // all, when there are so few that comparing each is faster than looking one up
	literal map[string][]rule
	globs   map[shape]*shelf
}

// rule is a pattern and the list that holds it.
type rule struct {
	Pattern
	list int
}

// shape is what a pattern with wildcards must share with an image before anything else is compared.
type shape struct {
	labels int
	port   string
}

// NewMatcher compiles lists of patterns: one list a provider. The error is the first *[PatternError].
func NewMatcher(lists [][]string) (*Matcher, error) {
	var rules []rule
	for i, list := range lists {
		for _, text := range list {
			p, err := Compile(text)
			if err != nil {
				return nil, err
			}
			rules = append(rules, rule{Pattern: p, list: i})
		}
	}
	if len(rules) <= few {
		return &Matcher{few: rules}, nil
	}
	m := &Matcher{literal: map[string][]rule{}, globs: map[shape]*shelf{}}
	for _, r := range rules {
		m.add(r)
	}
	for _, s := range m.globs {
		s.sort()
	}
	return m, nil
}

func (m *Matcher) add(r rule) {
	if r.pieces == nil {
		key := r.at.authority()
		m.literal[key] = append(m.literal[key], r)
		return
	}
	key := shape{labels: r.labels, port: r.at.port}
	if m.globs[key] == nil {
		m.globs[key] = &shelf{}
	}
	m.globs[key].rules = append(m.globs[key].rules, r)
}

// AppendMatches appends to dst the indexes of the lists of which at least one pattern matches image, ascending, each
// once, and returns it. With room in dst and a normalised image it does not allocate.
func (m *Matcher) AppendMatches(dst []int, image string) []int {
	at, err := locate(image)
	if err != nil {
		return dst
	}
	from, labels := len(dst), at.labels()
	dst = appendMatching(dst, m.few, at, labels)
	if m.few == nil {
		dst = appendMatching(dst, m.literal[keyOf(image, at)], at, labels)
		if s := m.globs[shape{labels: labels, port: at.port}]; s != nil {
			dst = s.appendMatching(dst, at, labels)
		}
	}
	found := dst[from:]
	if len(found) > 1 {
		slices.Sort(found)
		dst = dst[:from+len(slices.Compact(found))]
	}
	return dst
}

func appendMatching(dst []int, rules []rule, at location, labels int) []int {
	for i := range rules {
		if r := &rules[i]; r.matches(at, labels) {
			dst = append(dst, r.list)
		}
	}
	return dst
}

// keyOf returns at's authority, as a part of image where it stands there.
func keyOf(image string, at location) string {
	if at.port == "" {
		return at.host
	}
	rest, found := strings.CutPrefix(image, at.host)
	if found && strings.HasPrefix(rest, ":") && strings.HasPrefix(rest[1:], at.port) {
		return image[:len(at.host)+1+len(at.port)]
	}
	return at.authority()
}
