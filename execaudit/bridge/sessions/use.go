package sessions

import (
	"bytes"
	"cmp"
	"slices"
	"time"

	"github.com/lanyard-dev/lanyard/execaudit/bridge"
	"github.com/lanyard-dev/lanyard/execaudit/journal"
)

// Use is what a node's journal says of a session that it started. It has no user.
type Use struct {
	// Session is the session that the token named; zero for a process that was marked without one.
	Session bridge.SessionID
	// Mark is the kernel's, as it was recorded before the process was started; Mark.SessionID is 0 where there is none.
	Mark Mark
	// LoginUID was set together with the mark; 0 where there is none.
	LoginUID uint32
	// ContainerID and ExecID are the runtime's, and identify the session on its node.
	ContainerID, ExecID string
	// Namespace, Pod, PodUID and Container are where it ran.
	Namespace, Pod, PodUID, Container string
	// Time is that of the record.
	Time time.Time
}

// UseOf returns what a journal's record says, and false where that is nothing for the join: a refusal, a session ID of
// another form, or neither a session ID nor a mark.
func UseOf(r journal.Record) (Use, bool) {
	var session bridge.SessionID
	if r.ExecSession != "" {
		var err error
		if session, err = bridge.ParseSessionID(r.ExecSession); err != nil {
			return Use{}, false
		}
	}
	if r.Kind == journal.KindRefusal || session == (bridge.SessionID{}) && r.SessionID == 0 {
		return Use{}, false
	}
	return Use{
		Session:     session,
		Mark:        Mark{Node: r.Node, BootID: r.BootID, SessionID: r.SessionID},
		LoginUID:    r.LoginUID,
		ContainerID: r.ContainerID, ExecID: r.ExecID,
		Namespace: r.Namespace, Pod: r.Pod, PodUID: r.PodUID, Container: r.Container,
		Time: r.Time,
	}, true
}

// mergeUses returns the uses by time, one for each process that was started: an intent, a start and an end are one, of
// which an early one may have no mark yet, and a record that arrives twice is one.
func mergeUses(uses []Use) []Use {
	sorted := slices.Clone(uses)
	slices.SortFunc(sorted, compareUses)
	var out []Use
	first := 0 // the first use of this process in out
	for _, u := range sorted {
		if len(out) == 0 || !out[first].same(u) {
			first = len(out)
			out = append(out, u)
			continue
		}
		into := first
		for into < len(out) && !out[into].merge(u) {
			into++
		}
		if into == len(out) {
			out = append(out, u)
		}
	}
	slices.SortStableFunc(out, func(a, b Use) int { return a.Time.Compare(b.Time) })
	return out
}

// same reports whether two uses have one identity on their node.
func (u *Use) same(v Use) bool {
	return u.Session == v.Session && u.Mark.Node == v.Mark.Node && u.ContainerID == v.ContainerID && u.ExecID == v.ExecID
}

// merge adds what v says of the same process, and reports false where the two contradict each other.
func (u *Use) merge(v Use) bool {
	if !v.Mark.unset() && u.Mark != v.Mark || u.LoginUID != 0 && v.LoginUID != 0 && u.LoginUID != v.LoginUID {
		return false
	}
	fields := []struct {
		into *string
		from string
	}{{&u.Namespace, v.Namespace}, {&u.Pod, v.Pod}, {&u.PodUID, v.PodUID}, {&u.Container, v.Container}}
	for _, field := range fields {
		if several(*field.into, field.from) {
			return false
		}
	}
	for _, field := range fields {
		*field.into = cmp.Or(*field.into, field.from)
	}
	u.LoginUID = cmp.Or(u.LoginUID, v.LoginUID)
	if v.Time.Before(u.Time) {
		u.Time = v.Time
	}
	return true
}

// compareUses orders uses by what identifies them, marked ones first, and then by all that they hold.
func compareUses(a, b Use) int {
	unmarked := func(u Use) int {
		if u.Mark.unset() {
			return 1
		}
		return 0
	}
	return cmp.Or(
		bytes.Compare(a.Session[:], b.Session[:]),
		cmp.Compare(a.Mark.Node, b.Mark.Node),
		cmp.Compare(a.ContainerID, b.ContainerID),
		cmp.Compare(a.ExecID, b.ExecID),
		cmp.Compare(unmarked(a), unmarked(b)),
		cmp.Compare(a.Mark.BootID, b.Mark.BootID),
		cmp.Compare(a.Mark.SessionID, b.Mark.SessionID),
		a.Time.Compare(b.Time),
		cmp.Compare(a.LoginUID, b.LoginUID),
		cmp.Compare(a.Namespace, b.Namespace),
		cmp.Compare(a.Pod, b.Pod),
		cmp.Compare(a.PodUID, b.PodUID),
		cmp.Compare(a.Container, b.Container),
	)
}
