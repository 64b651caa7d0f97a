// Package journal reads the exec journal that a runtime writes, by the module that defines it, execaudit/journal.
package journal

import (
	"errors"
	"math"

	"github.com/lanyard-dev/lanyard/execaudit/attribution"
	"github.com/lanyard-dev/lanyard/execaudit/attribution/internal/intake"
	"github.com/lanyard-dev/lanyard/execaudit/attribution/internal/scan"
	"github.com/lanyard-dev/lanyard/execaudit/attribution/internal/texts"
	"github.com/lanyard-dev/lanyard/execaudit/journal"
)

// Decode appends the record of one line to b.Records. A line of another kind, as the journal's own marks and seals,
// counts in b.Ignored.OtherKinds; so does a refusal, which is not a session, since nothing was started. What a
// journal.Decoder refuses otherwise is attribution.ErrMalformed; so is a time before 1970 or after 9998, which no
// kernel's clock shows, and a PID that no process can have.
func Decode(line []byte, b *attribution.Batch) error {
	var r journal.Record
	err := intake.For(b).Journal.Decode(line, &r)
	if fault := new(journal.Fault); errors.As(err, &fault) && fault.Field == "kind" {
		b.Ignored.OtherKinds++
		return nil
	}
	if err != nil || !scan.Plausible(r.Time) || r.PID > math.MaxInt32 {
		return attribution.ErrMalformed
	}
	if r.Kind == journal.KindRefusal {
		b.Ignored.OtherKinds++
		return nil
	}
	b.Records = append(b.Records, attribution.Record{
		Phase: phase(r.Kind), Time: r.Time.UTC(), Node: r.Node, ContainerID: r.ContainerID, ExecID: r.ExecID, AuditID: r.AuditID,
		ExecSession: r.ExecSession,
		Namespace:   r.Namespace, Pod: r.Pod, Container: r.Container,
		Process:   attribution.Process{PID: r.PID, StartTicks: r.StartTicks, BootID: r.BootID},
		SessionID: r.SessionID, LoginUID: r.LoginUID, Lost: r.Kind == journal.KindEnd && r.Reason != "", Command: bounded(r.Argv),
	})
	return nil
}

func phase(k journal.Kind) attribution.Phase {
	switch k {
	case journal.KindStart:
		return attribution.PhaseStart
	case journal.KindEnd:
		return attribution.PhaseEnd
	}
	return attribution.PhaseIntent // Decode has no other kind
}

// bounded returns the words up to texts.MaxCommandBytes.
func bounded(words []string) []string {
	room := texts.MaxCommandBytes
	for i, word := range words {
		if len(word) > room {
			return words[:i:i]
		}
		room -= len(word)
	}
	return words
}
