package sessions_test

import (
	"fmt"
	"strings"
	"time"

	"github.com/lanyard-dev/lanyard/execaudit/bridge"
	"github.com/lanyard-dev/lanyard/execaudit/bridge/sessions"
	"github.com/lanyard-dev/lanyard/execaudit/bridge/token"
	"github.com/lanyard-dev/lanyard/execaudit/journal"
)

func Example() {
	session, _ := bridge.ParseSessionID("5ff1c7b9-0000-4000-8001-000000000000")
	forged, _ := bridge.ParseSessionID("00c0ffee-0000-4000-8001-000000000000")
	at := time.Date(2026, 11, 22, 10, 0, 0, 0, time.UTC)

	// The webhook's file.
	line, _ := sessions.Encode(sessions.Record{
		Session: session, Time: at, User: token.User{Name: "alice"}, Namespace: "shop", Pod: "cart-0", Container: "app", Node: "n1",
		Command: []string{"sh"}, Source: sessions.SourceExec, Outcome: bridge.OutcomeMarked, Expiry: at.Add(time.Minute),
	})
	var e sessions.Evidence
	for record, err := range sessions.Read(strings.NewReader(string(line)), "sessions.jsonl") {
		if err != nil {
			fmt.Println(err)
			continue
		}
		e.Records = append(e.Records, record)
	}

	// The node's journal: it has no names.
	for i, id := range []bridge.SessionID{session, forged} {
		intent := journal.Intent(journal.Session{Node: "n1", ContainerID: "4f5e", ExecID: fmt.Sprint("e", i), ExecSession: id.String()}, []string{"sh"}, true, at)
		mark := journal.Process{BootID: "b1", SessionID: uint32(3 + i), LoginUID: id.LoginUID()}
		if use, ok := sessions.UseOf(journal.Marked(intent, mark)); ok {
			e.Uses = append(e.Uses, use)
		}
	}
	for _, s := range sessions.Judge(e, at.Add(time.Hour)) {
		fmt.Printf("%s %v %q\n", s.ID, s.Verdict, s.User.Name)
	}

	// Later, the API server's audit log.
	log := `{"auditID":"a-1","stage":"ResponseStarted","user":{"username":"alice"},"requestReceivedTimestamp":"2026-11-22T10:00:00Z",` +
		`"annotations":{"exec.lanyard.dev/session":"5ff1c7b9-0000-4000-8001-000000000000"}}`
	for event, err := range sessions.ReadAudits(strings.NewReader(log), "audit.log") {
		if err == nil {
			e.Audits = append(e.Audits, event)
		}
	}
	for _, s := range sessions.Judge(e, at.Add(time.Hour)) {
		fmt.Printf("%s %v %q\n", s.ID, s.Verdict, s.User.Name)
	}
	// Output:
	// 00c0ffee-0000-4000-8001-000000000000 forged ""
	// 5ff1c7b9-0000-4000-8001-000000000000 admitted "alice"
	// 00c0ffee-0000-4000-8001-000000000000 forged ""
	// 5ff1c7b9-0000-4000-8001-000000000000 corroborated "alice"
}

func ExampleMarks() {
	session, _ := bridge.ParseSessionID("5ff1c7b9-0000-4000-8001-000000000000")
	marks := sessions.NewMarks([]sessions.Use{{
		Session: session, Mark: sessions.Mark{Node: "n1", BootID: "b1", SessionID: 3}, LoginUID: session.LoginUID(),
	}})
	for _, kernel := range []uint32{3, 4} { // both have the session's login UID
		p := sessions.Process{Mark: sessions.Mark{Node: "n1", BootID: "b1", SessionID: kernel}, LoginUID: session.LoginUID()}
		origin := marks.Judge(p)
		fmt.Printf("%v: %s\n", origin.Verdict, origin.Why)
	}
	// Output:
	// marked: the kernel's session that a node recorded
	// forged mark: the login UID of a session, in another session of the kernel's
}
