package suite

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lanyard-dev/lanyard/criconformance/internal/message"
	"github.com/lanyard-dev/lanyard/envprecedence"
)

// judge compares an exec'd process with what it should have. Every copy of a duplicate name counts, because readers
// differ in which they take.
func judge(where string, sent, want []envprecedence.Entry, p message.Process) observation {
	o := observation{Shown: shown(sent, p)}
	for _, w := range want {
		values, wanted := p.Values(w.Name), w.Value.Reveal()
		if len(values) == 0 {
			o.Problems = append(o.Problems, Problem{where, describe(sent, w.Name), w.Name + " is missing, want " + quote(wanted)})
		}
		for _, v := range values {
			if v != wanted {
				o.Problems = append(o.Problems, Problem{where, describe(sent, w.Name), fmt.Sprintf("%s=%s, want %s", w.Name, quote(v), quote(wanted))})
			}
		}
	}
	return o
}

// judgeOnce finds the names that were sent and arrived more than once.
func judgeOnce(where string, sent []envprecedence.Entry, p message.Process) (problems []Problem) {
	var done []string
	for _, s := range sent {
		if n := len(p.Values(s.Name)); n > 1 && !slices.Contains(done, s.Name) {
			done = append(done, s.Name)
			problems = append(problems, Problem{where, describe(sent, s.Name), fmt.Sprintf("duplicate name %s, %d times", s.Name, n)})
		}
	}
	return problems
}

// judgeAbsent finds what was sent to somebody else: a process should have what the container has.
func judgeAbsent(where string, sent []envprecedence.Entry, p message.Process) (problems []Problem) {
	for _, s := range sent {
		if value := s.Value.Reveal(); slices.Contains(p.Values(s.Name), value) {
			problems = append(problems, Problem{where, describe(sent, s.Name) + " to another session", fmt.Sprintf("%s=%s", s.Name, quote(value))})
		}
	}
	return problems
}

// shown reports whether something of what was sent arrived, even if mangled: a name that the container does not have,
// or a value that it has not.
func shown(sent []envprecedence.Entry, p message.Process) bool {
	had := map[string]string{}
	image, container := baseline()
	for _, e := range append(image, container...) {
		had[e.Name] = e.Value.Reveal()
	}
	for _, s := range sent {
		old, ok := had[s.Name]
		for _, v := range p.Values(s.Name) {
			if !ok || v != "" && v == s.Value.Reveal() && v != old {
				return true
			}
		}
	}
	return false
}

// maxQuoted is how many bytes of a value a report shows.
const maxQuoted = 80

// quote is a value as a report shows it: in quotes, and not all of a long one.
func quote(v string) string {
	if len(v) <= maxQuoted {
		return fmt.Sprintf("%q", v)
	}
	return fmt.Sprintf("%q… (%d bytes)", v[:maxQuoted], len(v))
}

// maxDescribed is how many entries of an environment a report shows.
const maxDescribed = 4

// describe shows what was sent, the entries with the name first.
func describe(sent []envprecedence.Entry, name string) string {
	var first, rest []string
	for _, s := range sent {
		if text := s.Name + "=" + quote(s.Value.Reveal()); s.Name == name {
			first = append(first, text)
		} else {
			rest = append(rest, text)
		}
	}
	all := append(first, rest...)
	if len(all) > maxDescribed {
		return fmt.Sprintf("%s and %d more", strings.Join(all[:maxDescribed], " "), len(all)-maxDescribed)
	}
	return strings.Join(all, " ")
}
