package suite

import (
	"encoding/xml"
	"io"
	"strings"
	"time"

	"github.com/lanyard-dev/lanyard/criconformance/internal/printable"
)

// The elements of a JUnit file, as CI systems read it. OutcomeSkip and OutcomeUnsupported are both "skipped": the
// format has no more words.
type (
	junitSuite struct {
		XMLName  xml.Name    `xml:"testsuite"`
		Name     string      `xml:"name,attr"`
		Tests    int         `xml:"tests,attr"`
		Failures int         `xml:"failures,attr"`
		Errors   int         `xml:"errors,attr"`
		Skipped  int         `xml:"skipped,attr"`
		Seconds  float64     `xml:"time,attr"`
		Cases    []junitCase `xml:"testcase"`
	}
	junitCase struct {
		Name    string     `xml:"name,attr"`
		Class   string     `xml:"classname,attr"`
		Seconds float64    `xml:"time,attr"`
		Failure *junitNote `xml:"failure"`
		Error   *junitNote `xml:"error"`
		Skipped *junitNote `xml:"skipped"`
	}
	junitNote struct {
		Message string `xml:"message,attr"`
		Text    string `xml:",chardata"`
	}
)

// WriteJUnit writes the report as a JUnit file. The message of a skipped case says whether it was skipped or
// unsupported. An error of the run is one more test case, "run", because CI systems read nothing else.
func (r Report) WriteJUnit(w io.Writer) error {
	s := junitSuite{
		Name: "criconformance " + printable.Lines(r.Runtime), Tests: len(r.Results), Failures: r.Count(OutcomeFail), Errors: r.Count(OutcomeError),
		Skipped: r.Count(OutcomeSkip) + r.Count(OutcomeUnsupported),
	}
	for _, result := range r.Results {
		s.Seconds += seconds(result.Took)
		s.Cases = append(s.Cases, result.junit())
	}
	if why := r.trouble(); why != "" {
		s.Tests++
		s.Errors++
		s.Cases = append(s.Cases, junitCase{Name: "run", Class: "criconformance", Error: &junitNote{Message: printable.Lines(why)}})
	}
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	e := xml.NewEncoder(w)
	e.Indent("", "  ")
	if err := e.Encode(s); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}

func (r Result) junit() junitCase {
	feature, name, _ := strings.Cut(printable.Lines(r.Case), "/")
	c := junitCase{Name: printable.Lines(r.Requirement) + " " + name, Class: "criconformance." + feature, Seconds: seconds(r.Took)}
	note := &junitNote{Message: printable.Lines(r.Reason)}
	switch r.Outcome {
	case OutcomeFail:
		c.Failure = &junitNote{Message: printable.Lines(r.Problems[0].Seen), Text: r.Explain("")}
	case OutcomeError:
		c.Error = note
	case OutcomeSkip, OutcomeUnsupported:
		note.Message = string(r.Outcome) + ": " + note.Message
		c.Skipped = note
	}
	return c
}

func seconds(d time.Duration) float64 { return d.Round(time.Millisecond).Seconds() }
