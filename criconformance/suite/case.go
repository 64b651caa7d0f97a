package suite

import (
	"context"
	"fmt"
)

// Case is one promise and how it is tested.
type Case struct {
	// Name begins with its feature, such as "envs/last-wins".
	Name string
	// Requirement is the ID in Lanyard's list of promises, such as "CON-1".
	Requirement string
	Feature     Feature
	// Source is where the promise is made, such as "KEP-6035, Validation"; Sentence is its wording there, "" if there
	// is none.
	Source, Sentence string
	// Fix is what the author of a runtime that breaks the promise has to change.
	Fix string

	try func(ctx context.Context, n *node) observation
}

// Problem is one observation of a broken promise.
type Problem struct {
	Where string `json:"where"` // session or container, such as "SPDY, terminal"
	Sent  string `json:"sent"`
	Seen  string `json:"seen"`
}

// Cases returns all cases, those of a feature together, in the order of a report. Their names are unique.
func Cases() []Case {
	var all []Case
	for _, some := range [][]Case{envCases(), terminalCases(), isolationCases(), identityCases(), imageUserCases(), statusCases(), refusalCases(), rangeCases()} {
		all = append(all, some...)
	}
	return all
}

// broken is the observation of one problem.
func broken(where, sent, seen string, args ...any) observation {
	return observation{Problems: []Problem{{where, sent, fmt.Sprintf(seen, args...)}}}
}

// trouble is the observation of a case that could not be run to its end.
func trouble(err error) observation { return observation{Err: err} }

// and is both observations in one.
func (o observation) and(other observation) observation {
	o.Problems = append(o.Problems, other.Problems...)
	o.Shown = o.Shown || other.Shown
	if o.Skipped == "" {
		o.Skipped = other.Skipped
	}
	if o.Err == nil {
		o.Err = other.Err
	}
	return o
}
