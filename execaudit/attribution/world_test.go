package attribution_test

import (
	"time"

	"github.com/lanyard-dev/lanyard/execaudit/attribution"
)

var dawn = time.Date(2026, 11, 21, 4, 0, 0, 0, time.UTC)

// placeholder is the audit ID of a session whose API server had none (KEP-6035, Audit ID Propagation).
const placeholder = "unknown"

// held never answers before Flush.
var held = attribution.Options{Window: attribution.Forever, All: true, MaxBytes: 1 << 30}

// feed is one piece of evidence.
type feed func(*attribution.Machine)

// answers runs the feeds through a machine.
func answers(o attribution.Options, feeds []feed) []attribution.Answer {
	var out []attribution.Answer
	m := attribution.New(o, func(a *attribution.Answer) { out = append(out, *a) })
	for _, f := range feeds {
		f(m)
	}
	m.Flush()
	return out
}
