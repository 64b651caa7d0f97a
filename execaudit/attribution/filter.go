package attribution

import (
	"slices"
	"strings"
)

// Filter chooses answers. Every field that is set has to match; the zero value matches all.
type Filter struct {
	// User is a user's name in full: the one who asked or the one impersonated, as fact or as claimed.
	User string
	// Group is a group of such a user.
	Group string
	// Namespace and Pod are where the process ran or, where that is unknown, where its session was.
	Namespace, Pod string
	// Command is a part of the process's command line.
	Command string
}

// Match reports whether a passes: as what it is, or as what it claims to be.
func (f *Filter) Match(a *Answer) bool {
	for _, s := range a.Claims {
		if f.match(a, s) {
			return true
		}
	}
	if a.Session != nil {
		return f.match(a, a.Session)
	}
	return len(a.Claims) == 0 && f.match(a, &Session{})
}

func (f *Filter) match(a *Answer, s *Session) bool {
	is := func(want, got, otherwise string) bool {
		return want == "" || want == got || got == "" && want == otherwise
	}
	return f.matchUser(s) && is(f.Namespace, a.Event.Namespace, s.Namespace) && is(f.Pod, a.Event.Pod, s.Pod) &&
		strings.Contains(a.Event.Command, f.Command)
}

func (f *Filter) matchUser(s *Session) bool {
	actor := s.Actor()
	return (f.User == "" || f.User == s.User.Name || f.User == actor.Name) &&
		(f.Group == "" || slices.Contains(s.User.Groups, f.Group) || slices.Contains(actor.Groups, f.Group))
}
