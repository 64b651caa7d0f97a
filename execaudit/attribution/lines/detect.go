package lines

import (
	"bytes"
	"errors"

	"github.com/lanyard-dev/lanyard/execaudit/attribution"
	"github.com/lanyard-dev/lanyard/execaudit/attribution/auditlog"
	"github.com/lanyard-dev/lanyard/execaudit/attribution/falco"
	"github.com/lanyard-dev/lanyard/execaudit/attribution/journal"
	"github.com/lanyard-dev/lanyard/execaudit/attribution/procevents"
	"github.com/lanyard-dev/lanyard/execaudit/attribution/spo"
	"github.com/lanyard-dev/lanyard/execaudit/attribution/tetragon"
	"github.com/lanyard-dev/lanyard/execaudit/attribution/tracee"
)

// ErrUnknownFormat is in the Fault of each line of a file before one that shows the format.
var ErrUnknownFormat = errors.New("neither an audit event, nor an event of Tetragon, Falco, Tracee or SPO, nor a journal record, nor a process event")

// Detect returns the decoder for a line by the keys that every line of a format has; nil for a line of none.
func Detect(line []byte) attribution.Decoder {
	has := func(text string) bool { return bytes.Contains(line, []byte(text)) }
	switch {
	case has(`"version":"spo/`):
		return spo.Decode
	case has(`"output_fields"`):
		return falco.Decode
	case has(`"exec_id"`):
		return tetragon.Decode
	case has(`"eventName"`):
		return tracee.Decode
	case has(`"audit.k8s.io/`):
		return auditlog.Decode
	case has(`"execID"`):
		return journal.Decode
	case has(`"startTicks"`):
		return procevents.Decode
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
