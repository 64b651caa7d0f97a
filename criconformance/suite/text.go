package suite

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/lanyard-dev/lanyard/criconformance/internal/printable"
)

// WriteText writes the report for people: a line for each case that begins with its outcome, and below a failed one
// what was sent, what was seen, the words of the KEP and what to do; then the error of the run, if there is one, and
// the summary.
func (r Report) WriteText(w io.Writer) error {
	var b strings.Builder
	if r.Runtime == "" {
		fmt.Fprintf(&b, "runtime    unknown, at %s\n", printable.Line(r.Endpoint))
	} else {
		fmt.Fprintf(&b, "runtime    %s (CRI %s) at %s\n", printable.Line(r.Runtime), printable.Line(r.API), printable.Line(r.Endpoint))
	}
	fmt.Fprintf(&b, "streams    %s\n", printable.Line(strings.Join(r.Streams.Spoken, ", ")))
	for _, refused := range r.Streams.Refused {
		fmt.Fprintf(&b, "           not %s: %s\n", printable.Line(refused.Protocol), printable.Line(refused.Why))
	}
	for _, f := range r.Features {
		fmt.Fprintf(&b, "%-10s %s\n", printable.Line(string(f.Feature)), f)
	}
	b.WriteByte('\n')
	for _, result := range r.Results {
		result.text(&b)
	}
	if why := r.trouble(); why != "" {
		fmt.Fprintf(&b, "%-11s  %s\n", OutcomeError, printable.Line(why))
	}
	fmt.Fprintf(&b, "\n%s\n", r.Summary())
	_, err := io.WriteString(w, b.String())
	return err
}

// Summary returns one line with the number of each outcome; an error of the run counts as one of the errors.
func (r Report) Summary() string {
	errors := r.Count(OutcomeError)
	if r.trouble() != "" {
		errors++
	}
	return fmt.Sprintf("%d passed, %d failed, %d skipped, %d unsupported, %d errors",
		r.Count(OutcomePass), r.Count(OutcomeFail), r.Count(OutcomeSkip), r.Count(OutcomeUnsupported), errors)
}

// String returns a few words, such as "reported, required".
func (f FeatureState) String() string {
	words := []string{"not reported"}
	if f.Reported {
		words[0] = "reported"
	}
	if f.Required {
		words = append(words, "required")
	}
	if f.Shown {
		return strings.Join(append(words, "shown"), ", ")
	}
	return strings.Join(append(words, "not shown"), ", ")
}

func (r Result) text(b *strings.Builder) {
	fmt.Fprintf(b, "%-11s  %-7s %-30s %s\n", string(r.Outcome), printable.Line(r.Requirement), printable.Line(r.Case), r.Took.Round(time.Millisecond))
	if r.Outcome == OutcomeError || r.Outcome == OutcomeSkip {
		fmt.Fprintf(b, "    %s\n", printable.Line(r.Reason))
	}
	if r.Outcome == OutcomeFail {
		b.WriteString(r.Explain("    "))
	}
}

// Explain returns why the case failed, in lines that begin with indent and end with a newline: for each problem where
// it was seen, what was sent and what was seen, then the source, its words and what to do. What cannot be printed is
// escaped.
func (r Result) Explain(indent string) string {
	var b strings.Builder
	for _, p := range r.Problems {
		fmt.Fprintf(&b, "%swhere  %s\n%ssent   %s\n%sseen   %s\n", indent, printable.Line(p.Where), indent, printable.Line(p.Sent), indent, printable.Line(p.Seen))
	}
	fmt.Fprintf(&b, "%srule   %s", indent, printable.Line(r.Source))
	if r.Sentence != "" {
		fmt.Fprintf(&b, ": %q", r.Sentence)
	}
	fmt.Fprintf(&b, "\n%sto do  %s\n", indent, printable.Line(r.Fix))
	return b.String()
}
