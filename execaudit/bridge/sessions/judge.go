package sessions

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/lanyard-dev/lanyard/execaudit/bridge"
	"github.com/lanyard-dev/lanyard/execaudit/bridge/token"
)

// Evidence is all that is known. The order of each part does not matter, and what is there twice counts once.
type Evidence struct {
	Records []Record
	Audits  []Audit
	Uses    []Use
}

// Session is one session, and what is known of it.
type Session struct {
	ID bridge.SessionID
	// Verdict and Why sum up the rest.
	Verdict Verdict
	Why     Reason
	// Time is the earliest of the evidence's times.
	Time time.Time
	// User asked for the session, by the API server's word where there is one; zero where the verdict names nobody.
	User token.User
	// By is who impersonated User, where an audit event says so.
	By string
	// Records, Audits and Uses are the evidence, each by time and without duplicates. A journal's records of one process
	// are one use.
	Records []Record
	Audits  []Audit
	Uses    []Use
}

// Judge returns each session that the evidence names, by Time and then ID, with nothing of the evidence aliased but
// the slices and maps within its elements. now is the time up to which all evidence has arrived: the clock's, less the
// clocks' skew and the time that audit events and journals take. It decides nothing but what is unused.
//
// Source: BRG-12.
func Judge(e Evidence, now time.Time) []Session {
	all := map[bridge.SessionID]*Session{}
	of := func(id bridge.SessionID) *Session {
		if all[id] == nil {
			all[id] = &Session{ID: id}
		}
		return all[id]
	}
	for _, r := range e.Records {
		s := of(r.Session)
		s.Records = append(s.Records, r)
	}
	for _, a := range e.Audits {
		s := of(a.Session)
		s.Audits = append(s.Audits, a)
	}
	for _, u := range e.Uses {
		s := of(u.Session)
		s.Uses = append(s.Uses, u)
	}
	delete(all, bridge.SessionID{})
	out := make([]Session, 0, len(all))
	for _, s := range all {
		s.Records = distinct(s.Records, func(r Record) time.Time { return r.Time })
		s.Audits = distinct(s.Audits, func(a Audit) time.Time { return a.Time })
		s.Uses = mergeUses(s.Uses)
		s.judge(now)
		out = append(out, *s)
	}
	slices.SortFunc(out, func(a, b Session) int {
		return cmp.Or(a.Time.Compare(b.Time), bytes.Compare(a.ID[:], b.ID[:]))
	})
	return out
}

// distinct returns the elements by time, and then by all that they hold, without duplicates.
func distinct[T any](list []T, at func(T) time.Time) []T {
	texts := map[string]T{}
	for _, element := range list {
		texts[fmt.Sprintf("%#v", element)] = element // which prints maps by key
	}
	keys := slices.SortedFunc(maps.Keys(texts), func(a, b string) int {
		return cmp.Or(at(texts[a]).Compare(at(texts[b])), cmp.Compare(a, b))
	})
	var out []T
	for _, key := range keys {
		out = append(out, texts[key])
	}
	return out
}

// judge sets the verdict and what comes from it.
func (s *Session) judge(now time.Time) {
	s.Time = s.earliest()
	s.Verdict, s.Why = s.decide(now)
	if s.Verdict == VerdictForged || s.Verdict == VerdictConflicting && s.Why != ReasonRequests {
		return // of several requests each is that user's, by the API server's word
	}
	if len(s.Audits) > 0 {
		s.User, s.By = s.Audits[0].User, s.Audits[0].By
		return
	}
	s.User = s.Records[len(s.Records)-1].User
}

func (s *Session) decide(now time.Time) (Verdict, Reason) {
	if why := s.conflict(); why != "" {
		return VerdictConflicting, why
	}
	switch {
	case s.refused():
		return VerdictRefused, ReasonRefused
	case len(s.Records) == 0 && len(s.Audits) == 0:
		return VerdictForged, ReasonNeither
	case len(s.Uses) == 0 && s.expired(now):
		return VerdictUnused, ReasonExpired
	case len(s.Audits) > 0:
		return VerdictCorroborated, ReasonAudit
	}
	return VerdictAdmitted, ReasonRecord
}

func (s *Session) earliest() time.Time {
	var times []time.Time
	for _, r := range s.Records {
		times = append(times, r.Time)
	}
	for _, a := range s.Audits {
		times = append(times, a.Time)
	}
	for _, u := range s.Uses {
		times = append(times, u.Time)
	}
	return slices.MinFunc(times, time.Time.Compare)
}

func (s *Session) refused() bool {
	return slices.ContainsFunc(s.Records, func(r Record) bool { return r.Outcome == bridge.OutcomeRefused }) ||
		slices.ContainsFunc(s.Audits, func(a Audit) bool { return a.Outcome == bridge.OutcomeRefused })
}

// expired reports whether a token was signed that nobody can use any more. Records say when that is; where there are
// none, and all audit events say that one was signed, a token's longest lifetime does.
func (s *Session) expired(now time.Time) bool {
	var last time.Time
	for _, r := range s.Records {
		switch {
		case !r.Expiry.IsZero():
			last = later(last, r.Expiry)
		case r.Outcome == bridge.OutcomeMarked:
			last = later(last, r.Time.Add(token.MaxLifetime))
		}
	}
	if len(s.Records) == 0 {
		for _, a := range s.Audits {
			if a.Outcome != bridge.OutcomeMarked {
				return false
			}
			last = later(last, a.Time.Add(token.MaxLifetime))
		}
	}
	return !last.IsZero() && now.After(last)
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}
