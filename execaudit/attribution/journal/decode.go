// Package journal reads the exec journal that a runtime writes, as the sibling module's execaudit/journal defines it: by its
// format, version 1, so that neither module needs the other.
package journal

import (
	"github.com/lanyard-dev/lanyard/execaudit/attribution"
	"github.com/lanyard-dev/lanyard/execaudit/attribution/internal/scan"
)

// Version is the version of the records that Decode reads.
const Version = 1

// Decode appends the record of one line to b.Records. A record that the writer's own Validate would refuse is attribution.ErrMalformed.
func Decode(line []byte, b *attribution.Batch) error {
	c := scan.New(line)
	if !c.Object() {
		return attribution.ErrMalformed
	}
	var r record
	for key, ok := c.Member(); ok; key, ok = c.Member() {
		r.member(&c, b, key)
	}
	if !c.OK() || !r.valid() {
		return attribution.ErrMalformed
	}
	r.Lost = r.Phase == attribution.PhaseEnd && !r.exited
	b.Records = append(b.Records, r.Record)
	return nil
}

type record struct {
	attribution.Record
	version                int64
	kind, exited, reasoned bool
}

func (r *record) member(c *scan.Cursor, b *attribution.Batch, key []byte) {
	switch string(key) {
	case "version":
		r.version = c.Int()
	case "kind":
		r.phase(c.Raw())
	case "time":
		r.Time = c.Time()
	case "node":
		r.Node = b.Name(c.Raw())
	case "containerID":
		r.ContainerID = b.Name(c.Raw())
	case "execID":
		r.ExecID = b.Text(c.Raw())
	case "auditID":
		r.AuditID = b.Text(c.Raw())
	case "namespace":
		r.Namespace = b.Name(c.Raw())
	case "pod":
		r.Pod = b.Name(c.Raw())
	case "container":
		r.Container = b.Name(c.Raw())
	case "pid":
		r.Process.PID = c.PID()
	case "startTicks":
		r.Process.StartTicks = uint64(max(c.Int(), 0))
	case "bootID":
		r.Process.BootID = b.Name(c.Raw())
	case "argv":
		r.Command = argv(c, b)
	case "exitCode":
		r.exited = c.Number()
	case "reason":
		r.reasoned = len(c.Raw()) > 0
	default:
		c.Skip()
	}
}

func (r *record) phase(kind []byte) {
	r.kind = true
	switch string(kind) {
	case "intent":
		r.Phase = attribution.PhaseIntent
	case "start":
		r.Phase = attribution.PhaseStart
	case "end":
		r.Phase = attribution.PhaseEnd
	default:
		r.kind = false
	}
}

func argv(c *scan.Cursor, b *attribution.Batch) []string {
	var words []string
	if !c.Array() {
		return nil
	}
	for room := attribution.MaxCommandBytes; c.Element(); {
		word := c.Raw()
		if len(word) <= room {
			words = append(words, b.Text(word))
		}
		room -= len(word)
	}
	return words
}

func (r *record) valid() bool {
	switch {
	case r.version != Version, !r.kind, r.Time.IsZero(), r.Node == "", r.ContainerID == "", r.ExecID == "":
		return false
	case r.Phase == attribution.PhaseStart:
		return r.Process.PID > 0 && r.Process.StartTicks > 0
	case r.Phase == attribution.PhaseEnd:
		return r.exited || r.reasoned
	}
	return true
}
