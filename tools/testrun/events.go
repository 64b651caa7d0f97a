package testrun

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"strings"
)

// event is a line of `go test -json`.
type event struct {
	Action     string
	Package    string
	ImportPath string
	Test       string
	Output     string
	Elapsed    float64 // seconds
}

// maxOutput bounds what is kept of one test's output until its end is known.
const maxOutput = 256 << 10 // 256 KiB

// reader turns the events of one `go test -json` into outcomes, and prints for
// people: a line for each package, and the whole output of what failed or was
// skipped. What belongs together is one call of Write.
type reader struct {
	print    io.Writer
	outcomes []Outcome
	tests    map[string]int              // tests ended, by package
	output   map[string]*strings.Builder // by package and test
}

func newReader(print io.Writer) *reader {
	return &reader{print: print, tests: map[string]int{}, output: map[string]*strings.Builder{}}
}

func (r *reader) readAll(in io.Reader) error {
	lines := bufio.NewReader(in)
	for {
		line, err := lines.ReadString('\n')
		if line != "" {
			r.line(line)
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// line takes one line; what is not an event is the go command speaking to people.
func (r *reader) line(line string) {
	var e event
	if json.Unmarshal([]byte(line), &e) != nil {
		fmt.Fprint(r.print, line)
		return
	}
	switch e.Action {
	case "output", "build-output":
		r.keep(e)
	case "build-fail":
		fmt.Fprintf(r.print, "FAIL  %s does not build\n%s", e.ImportPath, r.take(e.ImportPath))
	case "pass", "fail", "skip":
		r.end(e)
	}
}

func (e event) key() string {
	if e.Action == "build-output" {
		return e.ImportPath
	}
	return e.Package + " " + e.Test
}

func (r *reader) keep(e event) {
	b := r.output[e.key()]
	if b == nil {
		b = &strings.Builder{}
		r.output[e.key()] = b
	}
	if b.Len() < maxOutput {
		b.WriteString(e.Output)
	}
}

func (r *reader) take(key string) string {
	b := r.output[key]
	delete(r.output, key)
	if b == nil {
		return ""
	}
	return b.String()
}

func (r *reader) end(e event) {
	text := r.take(e.key())
	if e.Test == "" {
		r.endPackage(e, text)
		return
	}
	r.tests[e.Package]++
	r.outcomes = append(r.outcomes, Outcome{e.Package, e.Test, Result(e.Action), e.Elapsed})
	if e.Action != "pass" {
		fmt.Fprint(r.print, text)
	}
}

func (r *reader) endPackage(e event, text string) {
	switch {
	case e.Action == "fail":
		fmt.Fprintf(r.print, "FAIL  %-70s %6.1fs\n%s", e.Package, e.Elapsed, text)
		if !r.failedTest(e.Package) {
			r.outcomes = append(r.outcomes, Outcome{Package: e.Package, Result: Failed, Seconds: e.Elapsed})
		}
	case r.tests[e.Package] > 0:
		cached := ""
		if strings.Contains(text, "\t(cached)") {
			cached = ", cached"
		}
		fmt.Fprintf(r.print, "ok    %-70s %6.1fs  %d tests%s\n", e.Package, e.Elapsed, r.tests[e.Package], cached)
	}
}

func (r *reader) failedTest(pkg string) bool {
	for _, o := range r.outcomes {
		if o.Package == pkg && o.Result == Failed {
			return true
		}
	}
	return false
}
