package journal_test

import (
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/lanyard-dev/lanyard/execaudit/journal"
)

func Example() {
	dir, err := os.MkdirTemp("", "journal")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "exec-journal.jsonl")

	w, err := journal.Open(path, journal.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	now := time.Date(2026, 11, 21, 4, 10, 0, 0, time.UTC)
	session := journal.Session{Node: "n1", ContainerID: "8762eafc25a3", ExecID: "exec-1", AuditID: "f4a3b2c1"}
	process := journal.Process{PID: 4711, StartTicks: 123456, SessionID: 77}
	for _, r := range []journal.Record{
		journal.Intent(session, []string{"sh", "-c", "id"}, true, now), // before the process starts
		journal.Start(session, process, now.Add(time.Second)),
		journal.End(session, process, 0, now.Add(2*time.Second)),
	} {
		if err := w.Append(r); err != nil {
			fmt.Println(err)
		}
	}
	if err := w.Close(); err != nil {
		fmt.Println(err)
	}

	f, err := os.Open(path)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer f.Close()
	for r, err := range journal.NewReader(f, path).Records() {
		if err != nil { // a line that is not a record, or the file's error
			fmt.Println(err)
			continue
		}
		fmt.Println(r.Kind, r.AuditID, r.PID, r.SessionID, r.Argv)
	}
	// Output:
	// intent f4a3b2c1 0 0 [sh -c id]
	// start f4a3b2c1 4711 77 []
	// end f4a3b2c1 4711 77 []
}
