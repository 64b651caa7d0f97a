package main

import (
	"fmt"
	"time"

	"github.com/lanyard-dev/lanyard/execaudit/attribution"
)

// notes returns what there is to say at the end of how the answers came about, a line each; nothing of what went as
// usual.
func notes(s attribution.Stats, skews []attribution.Skew, o attribution.Options) (lines []string) {
	if s.EvictedProcesses+s.EvictedSessions+s.EarlyAnswers > 0 {
		lines = append(lines, fmt.Sprintf("memory bound: %d processes and %d sessions evicted, %d events answered early; their answers are hints at best",
			s.EvictedProcesses, s.EvictedSessions, s.EarlyAnswers))
	}
	if s.EvictedAnswers > 0 {
		lines = append(lines, fmt.Sprintf("memory bound: %s let go before --linger had passed; late evidence would not have corrected them", several(s.EvictedAnswers, "answer")))
	}
	if s.Late > 0 {
		lines = append(lines, fmt.Sprintf("late: %s answered at once, since their time had been answered", several(s.Late, "event")))
	}
	if s.Revised > 0 {
		lines = append(lines, fmt.Sprintf("corrected: %s, by evidence that came late", several(s.Revised, "answer")))
	}
	for _, skew := range skews {
		if skew.Ahead.Abs() > max(o.Skew, 0) {
			lines = append(lines, clock(skew))
		}
	}
	return lines
}

// clock says how far the clock of a node is off.
func clock(s attribution.Skew) string {
	way := "ahead of"
	if s.Ahead < 0 {
		way = "behind"
	}
	return fmt.Sprintf("clocks: that of node %s is about %v %s the API servers', as %s; times were compared by it",
		s.Node, s.Ahead.Abs().Round(10*time.Millisecond), way, shown(s.Sessions))
}

func shown(n int) string {
	if n == 1 {
		return "1 session shows"
	}
	return fmt.Sprintf("%d sessions show", n)
}

// several returns a number of things: "1 answer", "2 answers".
func several(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}
