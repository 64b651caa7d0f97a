// Package moves is what the tests share in which processes try to leave their session: lanyard-reporter's descend plays
// them.
package moves

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strings"

	"github.com/lanyard-dev/lanyard/execaudit/attribution"
	"github.com/lanyard-dev/lanyard/execaudit/journal"
)

// Truth returns whose process one is by its command, and the way that it came, which is its last word. Nothing that is
// joined looks at it.
func Truth(command string) (user, way string) {
	way = command[strings.LastIndexByte(command, ' ')+1:]
	for word := range strings.SplitSeq(way, ",") {
		if name, ok := strings.CutPrefix(word, "name="); ok {
			user = name
		}
	}
	return user, way
}

// Twins returns the processes that share number and tick with another, as happens where a test has the machine give out
// a number again at once: without the kernel's mark they are one.
func Twins(answers []attribution.Answer) map[attribution.Process]bool {
	forks, twins := map[attribution.Process]int{}, map[attribution.Process]bool{}
	for i := range answers {
		if e := &answers[i].Event; e.Kind == attribution.KindFork {
			if forks[e.Process]++; forks[e.Process] > 1 {
				twins[e.Process] = true
			}
		}
	}
	return twins
}

var mark = regexp.MustCompile(`,"(sessionID|loginUID)":[0-9]+`)

// Unmarked returns the lines of a journal or of an agent as they would be where nothing gives a session a mark.
func Unmarked(lines []byte) []byte { return mark.ReplaceAll(lines, nil) }

// Unseen returns the lines of a journal and of an agent as they would be if nobody had seen the sessions' first
// processes: the runtime wrote no start, and the agent began later.
func Unseen(journalLines, events []byte) (_, _ []byte, err error) {
	type process struct {
		PID        int    `json:"pid"`
		StartTicks uint64 `json:"startTicks"`
	}
	first := map[process]bool{}
	journalLines, err = kept(journalLines, func(line []byte) (bool, error) {
		var r struct {
			Kind journal.Kind `json:"kind"`
			process
		}
		err := json.Unmarshal(line, &r)
		if r.PID > 0 {
			first[r.process] = true
		}
		return r.Kind != journal.KindStart && r.Kind != journal.KindEnd, err
	})
	if err != nil {
		return nil, nil, err
	}
	events, err = kept(events, func(line []byte) (bool, error) {
		var e struct {
			Process process `json:"process"`
		}
		err := json.Unmarshal(line, &e)
		return !first[e.Process], err
	})
	return journalLines, events, err
}

// kept returns the lines that keep keeps.
func kept(lines []byte, keep func([]byte) (bool, error)) (out []byte, err error) {
	for line := range bytes.Lines(lines) {
		ok, err := keep(line)
		if err != nil {
			return nil, err
		}
		if ok {
			out = append(out, line...)
		}
	}
	return out, nil
}
