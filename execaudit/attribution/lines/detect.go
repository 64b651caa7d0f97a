package lines

import (
	"bytes"
	"errors"

	"github.com/lanyard-dev/lanyard/execaudit/attribution"
	"github.com/lanyard-dev/lanyard/execaudit/attribution/auditlog"
	"github.com/lanyard-dev/lanyard/execaudit/attribution/falco"
	"github.com/lanyard-dev/lanyard/execaudit/attribution/internal/scan"
	"github.com/lanyard-dev/lanyard/execaudit/attribution/journal"
	"github.com/lanyard-dev/lanyard/execaudit/attribution/procevents"
	"github.com/lanyard-dev/lanyard/execaudit/attribution/spo"
	"github.com/lanyard-dev/lanyard/execaudit/attribution/tetragon"
	"github.com/lanyard-dev/lanyard/execaudit/attribution/tracee"
)

// ErrUnknownFormat is in the Fault of each line of a file before one that shows the format.
var ErrUnknownFormat = errors.New("neither an audit event, nor an event of Tetragon, Falco, Tracee or SPO, nor a journal record, nor a process event")

// Detect returns the decoder for a line by the members that every line of a format has; nil for a line of none. Only
// the names and values at the top level count: what lies deeper, such as a command line, is anybody's to choose.
func Detect(line []byte) attribution.Decoder {
	c := scan.New(line)
	if !c.Object() {
		return nil
	}
	for key, ok := c.Member(); ok; key, ok = c.Member() {
		if d := decoder(key, &c); d != nil {
			return d
		}
	}
	return nil
}

// decoder returns the decoder that a member shows, and otherwise goes past its value.
func decoder(key []byte, c *scan.Cursor) attribution.Decoder {
	switch string(key) {
	case "output_fields":
		return falco.Decode
	case "eventName":
		return tracee.Decode
	case "execID":
		return journal.Decode
	case "kind":
		if kind := c.Raw(); string(kind) == "seal" || string(kind) == "file" {
			return journal.Decode
		}
	case "version":
		if bytes.HasPrefix(c.Raw(), []byte("spo/")) {
			return spo.Decode
		}
	case "apiVersion":
		if bytes.HasPrefix(c.Raw(), []byte("audit.k8s.io/")) {
			return auditlog.Decode
		}
	case "event":
		switch string(c.Raw()) {
		case "fork", "exec", "exit":
			return procevents.Decode
		}
	case "notice":
		return procevents.Decode
	default:
		if bytes.HasPrefix(key, []byte("process_")) {
			return tetragon.Decode
		}
		c.Skip()
	}
	return nil
}

func detect(data []byte) attribution.Decoder {
	for line := range bytes.Lines(data) {
		if d := Detect(line); d != nil {
			return d
		}
	}
	return nil
}
