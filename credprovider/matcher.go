package credprovider

import "slices"

// Matcher finds which of many lists of patterns an image matches. It costs one map lookup for all patterns without
// wildcards, and a few comparisons for each pattern that has one and the image's number of labels and port.
// It is immutable and safe for concurrent use.
type Matcher struct {
	literal map[string][]rule
	globs   map[shape][]rule
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
	m := &Matcher{literal: map[string][]rule{}, globs: map[shape][]rule{}}
	for i, list := range lists {
		for _, text := range list {
			p, err := Compile(text)
			if err != nil {
				return nil, err
			}
			m.add(rule{Pattern: p, list: i})
		}
	}
	return m, nil
}

func (m *Matcher) add(r rule) {
	if !r.glob {
		key := r.at.authority()
		m.literal[key] = append(m.literal[key], r)
		return
	}
	key := shape{labels: r.labels, port: r.at.port}
	m.globs[key] = append(m.globs[key], r)
}

// AppendMatches appends to dst the indexes of the lists of which at least one pattern matches image, ascending, each
// once, and returns it. With room in dst and a normalised image it does not allocate.
func (m *Matcher) AppendMatches(dst []int, image string) []int {
	at, err := locate(image)
	if err != nil {
		return dst
	}
	from, labels := len(dst), at.labels()
	dst = appendMatching(dst, m.literal[keyOf(image, at)], at, labels)
	dst = appendMatching(dst, m.globs[shape{labels: labels, port: at.port}], at, labels)
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
	if n := len(at.host) + 1 + len(at.port); len(image) >= n && image[:len(at.host)] == at.host && image[len(at.host)] == ':' && image[len(at.host)+1:n] == at.port {
		return image[:n]
	}
	return at.authority()
}
