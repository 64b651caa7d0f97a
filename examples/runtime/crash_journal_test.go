package runtime_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/lanyard-dev/lanyard/examples/runtime/runtimetest"
	"github.com/lanyard-dev/lanyard/examples/soak"
	"github.com/lanyard-dev/lanyard/examples/testimage"
	"github.com/lanyard-dev/lanyard/examples/testimage/report"
	"github.com/lanyard-dev/lanyard/execaudit"
	"github.com/lanyard-dev/lanyard/execaudit/journal"
)

const journalSeed = 6035

var journalKills = soak.Size(25, 100)

// TestCrashJournal kills the runtime at random moments while sessions begin, run and end, and then compares its
// journal with what the processes themselves wrote down.
func TestCrashJournal(t *testing.T) {
	host := t.TempDir()
	d := newDaemon(t)
	keys := filepath.Join(newDir(t), "keys")
	d.flags = []string{"--journal-keys", keys, "--journal-max-bytes", "20000"}
	d.start(t)
	ref := push(t, testimage.Spec{})
	d.node.Pull(t, ref)
	c := d.node.RunPod(t).Start(t, ref, cmd("pause"), func(c *runtimeapi.ContainerConfig) {
		c.Mounts = []*runtimeapi.Mount{{ContainerPath: "/host", HostPath: host}}
	})
	ctx, cancel := context.WithCancel(t.Context())
	var load sync.WaitGroup
	for worker := range 3 {
		load.Go(func() { openSessions(ctx, c, worker) })
	}
	moments := rand.New(rand.NewPCG(journalSeed, 11))
	for round := range journalKills {
		time.Sleep(time.Duration(moments.IntN(200)) * time.Millisecond)
		if round%5 == 0 {
			awaitOneMore(t, filepath.Join(host, "reports"))
		}
		d.kill(t)
		d.start(t)
	}
	cancel()
	load.Wait()
	d.kill(t)
	d.start(t)
	runtimetest.Eventually(t, "only the container's own process is left", func() bool { return len(processes(t, c)) == 1 })

	t.Run(fmt.Sprintf("ATT-11 EXA-39 AGT-1 every process that ran is in the journal, which verifies, from intent to end, with its mark, after %d kills", journalKills), func(t *testing.T) {
		ran := readReports(t, filepath.Join(host, "reports"))
		l := newJournalled(readJournal(t, filepath.Join(d.config.Root, "exec-journal.jsonl")))
		for _, r := range ran {
			l.check(t, r)
		}
		l.checkRest(t, ran)
		t.Logf("seed %d: %d kills, %d processes ran, %d of them cut short; %d sessions never came to run",
			journalSeed, journalKills, len(ran), l.cut, l.stillborn)
		checkSeals(t, d.config.Root, keys)
		if len(ran) < journalKills || l.cut < journalKills/10 {
			t.Error("there was hardly any load: the test proves nothing")
		}
	})
}

// checkSeals wants the journal to hold up to its last seal, and all of it to be chained, after all the kills.
func checkSeals(t *testing.T, root, keys string) {
	t.Helper()
	text, err := os.ReadFile(keys)
	if err != nil {
		t.Fatal(err)
	}
	key, err := journal.ParseKey(string(text)) // there is one: no start but the first has made one
	if err != nil {
		t.Fatal(err)
	}
	files, err := journal.Files(filepath.Join(root, "exec-journal.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	r, err := journal.Verify(files, journal.Check{Keys: []journal.Key{key}, KeyFile: filepath.Join(root, "exec-journal.key")})
	if err != nil || r.Err() != nil || r.Seals < journalKills || len(files) < 2 {
		t.Errorf("%d files, %d seals: %v, %v", len(files), r.Seals, err, r.Err())
	}
	t.Logf("%d files, %d seals, %d of %d records sealed, %d torn lines", len(files), r.Seals, r.Trusted.Records, r.End.Records, r.Torn)
}

// openSessions opens one session after the other: short ones, the same with a terminal, and those that only a kill or
// patience ends.
func openSessions(ctx context.Context, c *runtimetest.Container, worker int) {
	for i := 0; ctx.Err() == nil; i++ {
		id := fmt.Sprintf("crash-%d-%d", worker, i)
		s := &runtimetest.Session{Cmd: cmd("live", "/host", id, "first"), Env: auditID(id), TTY: worker == 1}
		end := func() {}
		switch worker {
		case 1:
			s.Stdin = strings.NewReader("\x04") // what a terminal takes as the end of input
		case 2:
			in, out := io.Pipe()
			s.Stdin, end = in, func() { out.Close() }
		}
		short, cancel := context.WithTimeout(ctx, time.Second)
		err := c.Exec(short, s)
		cancel()
		end()
		if err != nil {
			pause(ctx)
		}
	}
}

// awaitOneMore waits until another process has run, since on a slow machine all random moments may be too early.
func awaitOneMore(t *testing.T, file string) {
	t.Helper()
	size := func() int64 {
		info, err := os.Stat(file)
		if err != nil {
			return 0
		}
		return info.Size()
	}
	before := size()
	runtimetest.Eventually(t, "another process ran", func() bool { return size() > before })
}

func readReports(t *testing.T, file string) (out []report.Report) {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		var r report.Report
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			t.Fatal(err)
		}
		out = append(out, r)
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return out
}

// journalled are a journal's records by audit ID, each in the journal's order.
type journalled struct {
	records        map[string][]journal.Record
	cut, stillborn int
}

func newJournalled(records []journal.Record) *journalled {
	l := &journalled{records: map[string][]journal.Record{}}
	for _, r := range records {
		l.records[r.AuditID] = append(l.records[r.AuditID], r)
	}
	return l
}

// check compares what a process said with what the journal has.
func (l *journalled) check(t *testing.T, r report.Report) {
	t.Helper()
	id, _ := r.Get(execaudit.AuditIDName)
	records := l.records[id]
	var kinds []journal.Kind
	for _, record := range records {
		kinds = append(kinds, record.Kind)
	}
	if !slices.Equal(kinds, []journal.Kind{journal.KindIntent, journal.KindStart, journal.KindEnd}) {
		t.Errorf("%s ran, and has the records %v", id, kinds)
		return
	}
	intent, start, end := records[0], records[1], records[2]
	if !slices.Equal(intent.Argv, r.Args) || start.StartTicks != r.StartTicks || end.PID != start.PID {
		t.Errorf("%s ran as %q at %d, and has the records %+v", id, r.Args, r.StartTicks, records)
	}
	if r.AuditSession != report.NoSession && (intent.SessionID != r.AuditSession || start.SessionID != r.AuditSession) {
		t.Errorf("%s ran with the mark %d, and has the records %+v", id, r.AuditSession, records)
	}
	if end.ExitCode == nil {
		l.cut++
	}
}

// checkRest checks the sessions whose process said nothing: they have an end, and it is not a process's that ended
// well.
func (l *journalled) checkRest(t *testing.T, ran []report.Report) {
	t.Helper()
	spoke := map[string]bool{}
	for _, r := range ran {
		id, _ := r.Get(execaudit.AuditIDName)
		spoke[id] = true
	}
	for id, records := range l.records {
		if spoke[id] {
			continue
		}
		l.stillborn++
		if last := records[len(records)-1]; last.Kind != journal.KindEnd || last.ExitCode != nil && *last.ExitCode == 0 {
			t.Errorf("%s did not run, and has the records %+v", id, records)
		}
	}
}
