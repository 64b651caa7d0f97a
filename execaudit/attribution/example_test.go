package attribution_test

import (
	"fmt"
	"time"

	"github.com/lanyard-dev/lanyard/execaudit/attribution"
)

func Example() {
	m := attribution.New(attribution.Options{}, func(a *attribution.Answer) {
		user := "nobody for sure"
		if a.Session != nil {
			user = a.Session.User.Name
		}
		fmt.Printf("%s: %s, %s (%s)\n", a.Event.Command, user, a.Verdict, a.Reason)
	})
	at := time.Date(2026, 11, 21, 4, 10, 0, 0, time.UTC)
	m.AddAudit(&attribution.Audit{
		AuditID: "f4a3b2c1", Stage: attribution.StageResponseStarted, User: attribution.User{Name: "alice"}, Namespace: "shop", Pod: "web-0", Received: at, At: at,
	})
	m.AddRecord(&attribution.Record{
		Phase: attribution.PhaseStart, Time: at.Add(time.Second), Node: "n1", ContainerID: "8762eafc25a3", ExecID: "e1", AuditID: "f4a3b2c1",
		Namespace: "shop", Pod: "web-0", Process: attribution.Process{PID: 4711, StartTicks: 100, BootID: "9b1c"},
	})
	shell := attribution.Event{
		Time: at.Add(time.Second), Kind: attribution.KindExec, Node: "n1", ContainerID: "8762eafc25a3", Namespace: "shop", Pod: "web-0",
		Process: attribution.Process{PID: 4711, StartTicks: 100, BootID: "9b1c"}, AuditID: "f4a3b2c1", Command: "sh",
	}
	forger := shell
	forger.Time, forger.Command, forger.AuditID = at.Add(2*time.Second), "env KUBERNETES_EXEC_AUDIT_ID=0ff1ce sh", "0ff1ce"
	forger.Process, forger.Parent = attribution.Process{PID: 4712, StartTicks: 200, BootID: "9b1c"}, shell.Process
	m.AddEvent(&shell)
	m.AddEvent(&forger)
	m.Flush()
	// Output:
	// sh: alice, corroborated (unbroken chain to the session's first process)
	// env KUBERNETES_EXEC_AUDIT_ID=0ff1ce sh: nobody for sure, conflicting (the process claims another ID than its session has)
}
