package attribution

import (
	"bufio"
	"encoding/json"
	"io"
	"time"

	"github.com/lanyard-dev/lanyard/execaudit/journal"
)

// WriteJournal writes the runtimes' exec journals as one, in the order of time: each session's intent and start, and
// the end of those that end within the logs.
func (l Logs) WriteJournal(w io.Writer) error {
	g, out := l.generator(2), bufio.NewWriterSize(w, 1<<20)
	lines := json.NewEncoder(out)
	var err error
	write := func(r journal.Record) {
		if err == nil {
			err = lines.Encode(r)
		}
	}
	g.run(func(p process, at time.Time, kind string) {
		switch {
		case p.parent != -1: // not a session's shell
		case kind == "process_exec":
			write(journal.Intent(p.journaled(), []string{"sh", "-c", "id"}, true, at.Add(-time.Millisecond)))
			write(journal.Start(p.journaled(), p.started(), at.Add(time.Millisecond)))
		default:
			write(journal.End(p.journaled(), p.started(), 0, at.Add(time.Millisecond)))
		}
	})
	if err != nil {
		return err
	}
	return out.Flush()
}

func (p process) journaled() journal.Session {
	return journal.Session{
		Node: node(p.pod), ContainerID: container(p.pod), ExecID: id(p.session), AuditID: id(p.session),
		Namespace: namespace(p.pod), Pod: name(p.pod), Container: "app",
	}
}

// firstTick is when the first process started, in ticks of 10 ms since boot.
const firstTick = 1000

// started has a start in ticks of 10 ms, and no mark: Tetragon reports none.
func (p process) started() journal.Process {
	return journal.Process{PID: p.pid(), StartTicks: firstTick + uint64(p.number), BootID: "0c5c2d5e-6c1f-4d64-9d3a-5b8d0a3f8a01"}
}
