// Package ratio turns the output of benchmarks into ratios between contenders.
//
// A benchmark is named BenchmarkX/GRID POINT/CONTENDER. The contender "lanyard" is
// this project's code and "floor" the least that any code could cost; all others
// are peers.
package ratio

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"golang.org/x/perf/benchfmt"
	"golang.org/x/perf/benchmath"
)

// The names of the contenders that are not peers.
const (
	Ours  = "lanyard"
	Floor = "floor"
)

// Point is one grid point: its benchmark with the nanoseconds and allocations of
// each contender, over every round.
type Point struct {
	Name       string
	Contenders []string             // in the order in which they first ran
	Nanos      map[string][]float64 // one for each round
	Allocs     map[string]float64   // absent where they were not counted
}

// Parse reads the output of `go test -bench`, of any number of rounds. Points come
// in the order in which they first ran; lines that are not results are ignored. A
// result that cannot be read is an error that names its line.
func Parse(in io.Reader) ([]*Point, error) {
	var points []*Point
	byName := map[string]*Point{}
	results := benchfmt.NewReader(in, "benchmarks")
	for results.Scan() {
		if broken, ok := results.Result().(*benchfmt.SyntaxError); ok {
			return nil, broken
		}
		result, ok := results.Result().(*benchfmt.Result)
		if !ok {
			continue
		}
		name, contender, ok := cutLast(result.Name)
		nanos, timed := result.Value("sec/op")
		if !ok || !timed {
			continue
		}
		p := byName[name]
		if p == nil {
			p = &Point{Name: name, Nanos: map[string][]float64{}, Allocs: map[string]float64{}}
			byName[name] = p
			points = append(points, p)
		}
		p.add(contender, nanos*1e9)
		if n, counted := result.Value("allocs/op"); counted {
			p.Allocs[contender] = n
		}
	}
	return points, results.Err()
}

// cutLast splits a benchmark's name at its last slash and drops the number of
// processors.
func cutLast(name benchfmt.Name) (point, contender string, ok bool) {
	base, parts := name.Parts()
	text := string(base)
	for _, part := range parts {
		if part[0] == '/' {
			text += string(part)
		}
	}
	at := strings.LastIndexByte(text, '/')
	if at < 0 {
		return "", "", false
	}
	return text[:at], text[at+1:], true
}

func (p *Point) add(contender string, nanos float64) {
	if p.Nanos[contender] == nil {
		p.Contenders = append(p.Contenders, contender)
	}
	p.Nanos[contender] = append(p.Nanos[contender], nanos)
}

// Print writes one line for each point: our median, how many times the floor that
// is, and how many times ours each peer costs. Each median and each ratio has its
// spread; a ratio is that of the two in the same round.
func Print(w io.Writer, points []*Point) {
	for _, p := range points {
		if len(p.Nanos[Ours]) == 0 {
			fmt.Fprintf(w, "%s: %s did not run\n", p.Name, Ours)
			continue
		}
		fmt.Fprintf(w, "%-45s %s %s", p.Name, Ours, p.figure(Ours))
		if len(p.Nanos[Floor]) > 0 {
			fmt.Fprintf(w, " | floor %s (ours %s)", p.figure(Floor), p.ratio(Ours, Floor))
		}
		for _, c := range p.Contenders {
			if c != Ours && c != Floor {
				fmt.Fprintf(w, " | %s %s (%s ours)", c, p.figure(c), p.ratio(c, Ours))
			}
		}
		fmt.Fprintln(w)
	}
}

// confidence is that of the interval behind a median's "±".
const confidence = 0.95

// figure is a contender's median with its spread and its allocations, if they were
// counted.
func (p *Point) figure(contender string) string {
	sample := benchmath.NewSample(slices.Clone(p.Nanos[contender]), &benchmath.DefaultThresholds)
	summary := benchmath.AssumeNothing.Summary(sample, confidence)
	text := fmt.Sprintf("%.4g ns ±%s", summary.Center, summary.PctRangeString())
	if n, ok := p.Allocs[contender]; ok {
		text += fmt.Sprintf(" %g allocs", n)
	}
	return text
}

// ratio is the median of what a costs for each 1 of b, round by round, with the
// least and the most.
func (p *Point) ratio(a, b string) string {
	rounds := min(len(p.Nanos[a]), len(p.Nanos[b]))
	ratios := make([]float64, rounds)
	for i := range ratios {
		ratios[i] = p.Nanos[a][i] / p.Nanos[b][i]
	}
	slices.Sort(ratios)
	return fmt.Sprintf("%.2fx [%.2f–%.2f]", ratios[rounds/2], ratios[0], ratios[rounds-1])
}
