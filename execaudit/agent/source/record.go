package source

import (
	"github.com/lanyard-dev/lanyard/execaudit/attribution"
	"github.com/lanyard-dev/lanyard/execaudit/journal"
)

var phases = map[journal.Kind]attribution.Phase{
	journal.KindIntent: attribution.PhaseIntent, journal.KindStart: attribution.PhaseStart,
	journal.KindEnd: attribution.PhaseEnd,
}

// attributed returns a record as the package attribution has it.
func attributed(r *journal.Record) *attribution.Record {
	return &attribution.Record{
		Phase: phases[r.Kind], Time: r.Time, Node: r.Node, ContainerID: r.ContainerID, ExecID: r.ExecID, AuditID: r.AuditID,
		ExecSession: r.ExecSession, Namespace: r.Namespace, Pod: r.Pod, Container: r.Container,
		Process:   attribution.Process{PID: r.PID, StartTicks: r.StartTicks, BootID: r.BootID},
		SessionID: r.SessionID, LoginUID: r.LoginUID, Lost: r.Kind == journal.KindEnd && r.Reason != "", Command: r.Argv,
	}
}
