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
	Pass Status = "pass"
	Fail Status = "FAIL"
	// Inconclusive: there was nothing to look at, above all because the plugin refused the request.
	Inconclusive Status = "inconclusive"
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

// Outcome returns Fail when a case failed, else Inconclusive when one is or there are none, else Pass. What was never seen
// to answer is Inconclusive: tar refuses requests as a plugin does that cannot reach its service.
func (r Report) Outcome() Status {
	outcome := Pass
	for _, c := range r.Cases {
		switch c.Status {
		case Pass:
		case Inconclusive:
			outcome = Inconclusive
		default:
			return Fail
		}
	}
	if len(r.Cases) == 0 {
		return Inconclusive
	}
	return outcome
}

// OK reports whether the outcome is Pass.
func (r Report) OK() bool { return r.Outcome() == Pass }

// verdict returns the outcome in one line.
func (r Report) verdict() string {
	switch r.Outcome() {
	case Pass:
		return "pass: every rule was looked at and is kept"
	case Fail:
		return "FAIL: a rule is broken"
	}
	for _, c := range r.Cases {
		if c.Name == CaseAnswer && c.Status == Pass {
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
