// Package ratio turns the output of benchmarks into ratios between contenders.
//
// A benchmark is named BenchmarkX/GRID POINT/CONTENDER. The contender "lanyard" is
// this project's code and "floor" the least that any code could cost; all others
// are peers.
package ratio

import (
	"bufio"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
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
	Contenders []string // in the order in which they first ran
	Nanos      map[string][]float64
	Allocs     map[string]float64
}

var benchLine = regexp.MustCompile(`^(Benchmark\S+?)/([^/\s]+?)(?:-\d+)?\s+\d+\s+([0-9.]+) ns/op(.*)$`)

var allocs = regexp.MustCompile(`([0-9.]+) allocs/op`)

// Parse reads the output of `go test -bench`, of any number of rounds. Points come
// in the order in which they first ran; lines that are no result are passed over.
func Parse(in io.Reader) ([]*Point, error) {
	var points []*Point
	byName := map[string]*Point{}
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		m := benchLine.FindStringSubmatch(lines.Text())
		if m == nil {
			continue
		}
		nanos, err := strconv.ParseFloat(m[3], 64)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", m[1], err)
		}
		p := byName[m[1]]
		if p == nil {
			p = &Point{Name: m[1], Nanos: map[string][]float64{}, Allocs: map[string]float64{}}
			byName[m[1]] = p
			points = append(points, p)
		}
		p.add(m[2], nanos, m[4])
	}
	return points, lines.Err()
}

func (p *Point) add(contender string, nanos float64, rest string) {
	if p.Nanos[contender] == nil {
		p.Contenders = append(p.Contenders, contender)
	}
	p.Nanos[contender] = append(p.Nanos[contender], nanos)
	if m := allocs.FindStringSubmatch(rest); m != nil {
		if n, err := strconv.ParseFloat(m[1], 64); err == nil {
			p.Allocs[contender] = n
		}
	}
}

// Median returns the median nanoseconds of the contender, and false if it did not
// run.
func (p *Point) Median(contender string) (float64, bool) {
	rounds := slices.Sorted(slices.Values(p.Nanos[contender]))
	if len(rounds) == 0 {
		return 0, false
	}
	return rounds[len(rounds)/2], true
}

// Print writes one line for each point: our median, how many times the floor that
// is, and how many times ours each peer costs.
func Print(w io.Writer, points []*Point) {
	for _, p := range points {
		ours, ok := p.Median(Ours)
		if !ok {
			fmt.Fprintf(w, "%s: %s did not run\n", p.Name, Ours)
			continue
		}
		fmt.Fprintf(w, "%-55s %s %s", strings.TrimPrefix(p.Name, "Benchmark"), Ours, p.figure(Ours))
		if floor, ok := p.Median(Floor); ok {
			fmt.Fprintf(w, " | floor %s (ours %.2fx)", p.figure(Floor), ours/floor)
		}
		for _, c := range p.Contenders {
			if c == Ours || c == Floor {
				continue
			}
			peer, _ := p.Median(c)
			fmt.Fprintf(w, " | %s %s (%.2fx ours)", c, p.figure(c), peer/ours)
		}
		fmt.Fprintln(w)
	}
}

// figure is a contender's median with its allocations, if they were counted.
func (p *Point) figure(contender string) string {
	median, _ := p.Median(contender)
	text := fmt.Sprintf("%.4g ns", median)
	if n, ok := p.Allocs[contender]; ok {
		text += fmt.Sprintf(" %g allocs", n)
	}
	return text
}
