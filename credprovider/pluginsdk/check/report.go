package check

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode"
)

// Status is the outcome of a case.
type Status string

// The outcomes.
const (
	// StatusPass: the rule is kept.
	StatusPass Status = "pass"
	// StatusFail: the rule is broken.
	StatusFail Status = "fail"
	// StatusInconclusive: there was nothing to look at, above all because the plugin refused the request.
	StatusInconclusive Status = "inconclusive"
)

// Case is one rule of the protocol and what the plugin did.
type Case struct {
	// Name is the rule.
	Name   string `json:"name"`
	Status Status `json:"status"`
	// Detail says what was seen, in one line of printable text; it holds neither token nor password of an answer.
	Detail string `json:"detail,omitempty"`
}

// Report is what was seen of a plugin.
type Report struct {
	Path  string `json:"path"`
	Cases []Case `json:"cases"`
}

// Outcome returns StatusFail when a case failed, else StatusInconclusive when one is inconclusive or there are none,
// else StatusPass. A program that was never seen to answer is inconclusive: tar refuses requests, as a plugin does that
// cannot reach its service.
func (r Report) Outcome() Status {
	outcome := StatusPass
	for _, c := range r.Cases {
		switch c.Status {
		case StatusPass:
		case StatusInconclusive:
			outcome = StatusInconclusive
		default:
			return StatusFail
		}
	}
	if len(r.Cases) == 0 {
		return StatusInconclusive
	}
	return outcome
}

// OK reports whether the outcome is StatusPass.
func (r Report) OK() bool { return r.Outcome() == StatusPass }

// verdict returns the outcome in one line.
func (r Report) verdict() string {
	switch r.Outcome() {
	case StatusPass:
		return "pass: every rule was looked at and is kept"
	case StatusFail:
		return "fail: a rule is broken"
	}
	for _, c := range r.Cases {
		if c.Name == caseAnswer && c.Status == StatusPass {
			return "inconclusive: a rule could not be looked at"
		}
	}
	return "inconclusive: no answer was seen, so nothing shows that this is a plugin; ask for an image that it serves, with what it needs to do so"
}

// MarshalJSON returns the fields, and the outcome as "outcome".
func (r Report) MarshalJSON() ([]byte, error) {
	type fields Report
	return json.Marshal(struct {
		fields
		Outcome Status `json:"outcome"`
	}{fields(r), r.Outcome()})
}

// String returns one line a case, and one for the outcome.
func (r Report) String() string {
	var b strings.Builder
	for _, c := range r.Cases {
		fmt.Fprintf(&b, "%-12s %s", c.Status, c.Name)
		if c.Detail != "" {
			fmt.Fprintf(&b, ": %s", c.Detail)
		}
		b.WriteString("\n")
	}
	b.WriteString(r.verdict() + "\n")
	return b.String()
}

func (r *Report) add(name string, status Status, detail string) {
	r.Cases = append(r.Cases, Case{Name: name, Status: status, Detail: oneLine(detail)})
}

// oneLine returns text that neither drives a terminal nor ends its line, whatever a plugin has written.
func oneLine(text string) string {
	return strings.Join(strings.Fields(strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) || !unicode.IsPrint(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(text, "?"))), " ")
}
