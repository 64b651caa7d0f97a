package agent_test

import (
	"fmt"
	"time"

	"github.com/lanyard-dev/lanyard/execaudit/agent"
	"github.com/lanyard-dev/lanyard/execaudit/journal"
	"github.com/lanyard-dev/lanyard/redact"
)

// Two processes run a program; the journal has a session for the mark of the first.
func Example() {
	boot := time.Date(2026, 11, 22, 4, 0, 0, 0, time.UTC)
	t := agent.New(agent.Options{Node: "n1", BootID: "b1", Boot: boot}, func(e *agent.Event) {
		if e.Session == nil {
			fmt.Println(e.SessionID, e.Args, "of no session")
			return
		}
		fmt.Println(e.SessionID, e.Args, "in", e.Session.Pod)
	}, func(n *agent.Notice) {
		fmt.Println(n.Kind, n.SessionID, n.Reason)
	})
	const login = agent.MinLoginUID + 1
	session := journal.Session{Node: "n1", ContainerID: "8762eafc25a3", ExecID: "e1", Namespace: "shop", Pod: "cart-0"}
	record := journal.Marked(journal.Intent(session, []string{"sh"}, true, boot), journal.Process{BootID: "b1", SessionID: 7, LoginUID: login})

	run := func(pid int, mark uint32, args string) {
		t.Observe(&agent.Observation{
			Kind: agent.KindExec, At: time.Minute, Task: agent.Task{PID: pid, Start: time.Minute}, SessionID: mark, LoginUID: login,
			Args: redact.NewBytes([]byte(args)),
		})
	}
	run(100, 7, "mysql\x00--password=hunter2\x00") // the record comes a little later, as it may
	t.AddRecord(&record)
	run(101, 8, "id\x00") // nobody recorded that mark
	t.Flush(boot.Add(2 * time.Minute))

	// Output:
	// 7 [mysql --password=[redacted]] in cart-0
	// forged 8 no record of the node has this mark
	// 8 [id] of no session
}
