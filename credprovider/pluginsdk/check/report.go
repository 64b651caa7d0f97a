package check

import (
	"fmt"
	"strings"
)

// Status is the outcome of a case.
type Status string

// The outcomes.
const (
	Pass Status = "pass"
	Fail Status = "FAIL"
	// Inconclusive: the plugin refused the request, so there is no answer to look at.
	Inconclusive Status = "inconclusive"
)

// Case is one rule of the protocol and what the plugin did.
type Case struct {
	// Name is the rule.
	Name   string `json:"name"`
	Status Status `json:"status"`
	// Detail says what was seen; it holds neither token nor password.
	Detail string `json:"detail,omitempty"`
}

// Report is what was seen of a plugin.
type Report struct {
	Path  string `json:"path"`
	Cases []Case `json:"cases"`
}

// OK reports whether no case failed.
func (r Report) OK() bool {
	for _, c := range r.Cases {
		if c.Status == Fail {
			return false
		}
	}
	return true
}

// String returns one line a case.
func (r Report) String() string {
	var b strings.Builder
	for _, c := range r.Cases {
		fmt.Fprintf(&b, "%-12s %s", c.Status, c.Name)
		if c.Detail != "" {
			fmt.Fprintf(&b, ": %s", c.Detail)
		}
		b.WriteString("\n")
	}
	return b.String()
}

func (r *Report) add(name string, status Status, detail string) {
	r.Cases = append(r.Cases, Case{Name: name, Status: status, Detail: detail})
}
