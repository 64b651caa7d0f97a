// Package spo reads the Security Profiles Operator's JSON enricher lines.
//
// They carry no audit ID of Kubernetes: their auditID is the operator's own random one and is not read. They are
// joined by requestUID, which the API server's audit event has as an annotation (see package auditlog).
package spo

import (
	"github.com/lanyard-dev/lanyard/execaudit/attribution"
	"github.com/lanyard-dev/lanyard/execaudit/attribution/internal/intake"
	"github.com/lanyard-dev/lanyard/execaudit/attribution/internal/scan"
)

// Decode appends the line to out.Events as an activity of its process.
func Decode(line []byte, out *attribution.Batch) error {
	b := intake.For(out)
	c := scan.New(line)
	if !c.Object() {
		return attribution.ErrMalformed
	}
	e := attribution.Event{Agent: "spo"}
	for key, ok := c.Member(); ok; key, ok = c.Member() {
		member(&c, b, &e, string(key))
	}
	if !c.OK() || e.Time.IsZero() {
		return attribution.ErrMalformed
	}
	if e.Process.PID == 0 {
		b.Ignored.NoProcess++
		return nil
	}
	return b.AddEvent(&e)
}

func member(c *scan.Cursor, b *intake.Batch, e *attribution.Event, key string) {
	switch key {
	case "timestamp":
		e.Time = c.Time()
	case "requestUID":
		e.RequestUID = b.Text(c.Raw())
	case "cmdLine":
		e.Command = b.Command(c.Raw())
	case "pid":
		e.Process.PID = c.PID()
	case "node":
		named(c, b, map[string]*string{"name": &e.Node})
	case "resource":
		named(c, b, map[string]*string{"pod": &e.Pod, "namespace": &e.Namespace, "container": &e.Container})
	default:
		c.Skip()
	}
}

// named reads an object's members into the strings that are named like them.
func named(c *scan.Cursor, b *intake.Batch, into map[string]*string) {
	if !c.Object() {
		return
	}
	for key, ok := c.Member(); ok; key, ok = c.Member() {
		if field := into[string(key)]; field != nil {
			*field = b.Name(c.Raw())
			continue
		}
		c.Skip()
	}
}
