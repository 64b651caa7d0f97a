package source

import (
	"time"

	"github.com/lanyard-dev/lanyard/execaudit/agent"
)

// maxLate bounds the notices that wait for an output which missed them.
const maxLate = 1 << 12

const outputReason = "this output was too slow, or failed"

// debt is what an output misses and was not told of.
type debt struct {
	events  int64 // given or, by what was to be told in a notice, not
	unknown bool  // and an unknown number
	since   time.Time
	notices []*agent.Notice // of all kinds but losses, in order
}

func (d *debt) none() bool { return d.events == 0 && !d.unknown && len(d.notices) == 0 }

// add adds what was missed at that time, and returns how many events that are.
func (d *debt) add(events []*agent.Event, notices []*agent.Notice, now time.Time) int64 {
	if d.none() {
		d.since = now
	}
	n := int64(len(events))
	for _, notice := range notices {
		switch {
		case notice.Kind != agent.NoticeLost && len(d.notices) < maxLate:
			d.notices = append(d.notices, notice)
		case notice.Kind != agent.NoticeLost || notice.Count < 0:
			d.unknown = true
		default:
			n += notice.Count
		}
	}
	d.events += n
	return n
}

// take takes an older debt back.
func (d *debt) take(older debt) {
	older.events += d.events
	older.unknown = older.unknown || d.unknown
	older.notices = append(older.notices, d.notices...)
	if len(older.notices) > maxLate {
		older.notices, older.unknown = older.notices[:maxLate:maxLate], true
	}
	*d = older
}

// loss returns the notice of the missing events, nil for none.
func (d *debt) loss() *agent.Notice {
	if d.events == 0 && !d.unknown {
		return nil
	}
	n := &agent.Notice{Kind: agent.NoticeLost, Since: d.since.UTC(), Count: d.events, Reason: outputReason}
	if d.unknown {
		n.Count = -1
	}
	return n
}
