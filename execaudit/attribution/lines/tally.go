package lines

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/lanyard-dev/lanyard/execaudit/attribution"
)

// ErrNothingUsed is in the Fault of a file whose Tally is Nothing.
var ErrNothingUsed = errors.New("nothing of the file could be used")

// Tally says what became of a file's lines. Empty ones are not counted.
type Tally struct {
	// File is the file's name as given.
	File string
	// Used lines told something. Faulted ones have a Fault each.
	Used, Faulted int
	// Ignored lines told nothing, by kind.
	Ignored attribution.Ignored
	// OutOfOrder is how much of what the lines told is a minute or more older than something before it in the file, and
	// OutOfOrderBy how far at most. join.Files counts it; Read does not.
	OutOfOrder   int
	OutOfOrderBy time.Duration
}

// Nothing reports whether nothing of the file could be used: it has no lines, or each is a fault or ignored. Audit
// events of other requests can be used, and so can a journal's seals: they tell that there was no exec.
func (t *Tally) Nothing() bool {
	return t.Used == 0 && t.Ignored.OtherRequests+t.Ignored.OtherKinds == 0
}

// String returns "FILE: 3 lines used, 7 ignored (5 of other requests, 2 without a process), 1 faulted", and where there
// is something out of order ", 2 out of order by up to 26h0m0s".
func (t *Tally) String() string {
	lines := "lines"
	if t.Used == 1 {
		lines = "line"
	}
	text := fmt.Sprintf("%s: %d %s used, %d ignored%s, %d faulted", t.File, t.Used, lines, t.Ignored.Sum(), kinds(t.Ignored), t.Faulted)
	if t.OutOfOrder > 0 {
		text += fmt.Sprintf(", %d out of order by up to %v", t.OutOfOrder, t.OutOfOrderBy.Round(time.Second))
	}
	return text
}

// kinds returns the kinds that there are, in parentheses and behind a space; "" for none.
func kinds(i attribution.Ignored) string {
	var list []string
	for _, kind := range []struct {
		count int
		text  string
	}{{i.OtherRequests, "of other requests"}, {i.NoProcess, "without a process"}, {i.OtherKinds, "of other kinds"}, {i.Other, "of no known use"}} {
		if kind.count > 0 {
			list = append(list, fmt.Sprintf("%d %s", kind.count, kind.text))
		}
	}
	if list == nil {
		return ""
	}
	return " (" + strings.Join(list, ", ") + ")"
}

// add counts a part of the file.
func (t *Tally) add(b *Batch) {
	t.Used += b.used
	t.Faulted += len(b.Faults)
	t.Ignored.OtherRequests += b.Ignored.OtherRequests
	t.Ignored.NoProcess += b.Ignored.NoProcess
	t.Ignored.OtherKinds += b.Ignored.OtherKinds
	t.Ignored.Other += b.Ignored.Other
}

// end makes b the file's last batch. A file that could not be read is a fault already, by b.Err.
func (b *Batch) end(t Tally) {
	b.Ended = &t
	if t.Nothing() && b.Err == nil {
		b.Faults = append(b.Faults, &Fault{File: t.File, Err: ErrNothingUsed})
	}
}
