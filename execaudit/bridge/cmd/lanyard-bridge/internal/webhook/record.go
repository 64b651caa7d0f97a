package webhook

import "github.com/lanyard-dev/lanyard/execaudit/bridge/sessions"

// recorder writes session records down, one line each.
type recorder struct{ to *lineFile }

// Record implements admission.Recorder.
func (r recorder) Record(record sessions.Record) error {
	line, err := sessions.Encode(record)
	if err != nil {
		return err
	}
	return r.to.append(line)
}
