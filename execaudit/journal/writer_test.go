package journal_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lanyard-dev/lanyard/execaudit/journal"
)

var (
	at      = time.Date(2026, 11, 21, 4, 10, 0, 250, time.UTC)
	session = journal.Session{
		Node: "n1", ContainerID: "c1", ExecID: "e1", AuditID: "f4a3b2c1", SandboxID: "s1",
		Namespace: "shop", Pod: "web-0", PodUID: "u1", Container: "app",
	}
	process = journal.Process{PID: 4711, StartTicks: 123456, BootID: "b1", SessionID: 77}
)

// disk is a journal.File that knows what a crash would leave.
type disk struct {
	mu      sync.Mutex
	wrote   *sync.Cond // something was written
	written bytes.Buffer
	durable int // bytes of written that a crash leaves
	syncs   int
	room    int   // bytes until it is full; negative for no end
	syncErr error // what Sync returns
	onSync  func()
}

func newDisk() *disk {
	d := &disk{room: -1}
	d.wrote = sync.NewCond(&d.mu)
	return d
}

func (d *disk) Write(b []byte) (int, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	defer d.wrote.Broadcast()
	if d.room >= 0 && len(b) > d.room {
		n, _ := d.written.Write(b[:d.room])
		d.room = 0
		return n, errors.New("no space left on device")
	}
	if d.room >= 0 {
		d.room -= len(b)
	}
	return d.written.Write(b)
}

func (d *disk) Sync() error {
	if d.onSync != nil {
		d.onSync()
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.syncErr != nil {
		return d.syncErr
	}
	d.syncs++
	d.durable = d.written.Len()
	return nil
}

func (*disk) Close() error { return nil }

// awaitLines returns once so many lines are written.
func (d *disk) awaitLines(want int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for bytes.Count(d.written.Bytes(), []byte("\n")) < want {
		d.wrote.Wait()
	}
}

func (d *disk) afterCrash() []byte { return d.written.Bytes()[:d.durable] }

// readAll returns the records and the faults of a journal.
func readAll(t *testing.T, data []byte) (records []journal.Record, faults []error) {
	t.Helper()
	for record, err := range journal.NewReader(bytes.NewReader(data), "journal").Records() {
		var fault *journal.LineError
		switch {
		case err == nil:
			records = append(records, record)
		case errors.As(err, &fault):
			faults = append(faults, err)
		default:
			t.Fatal(err)
		}
	}
	return records, faults
}

func mustAppend(t *testing.T, w *journal.Writer, r journal.Record) {
	t.Helper()
	if err := w.Append(r); err != nil {
		t.Fatal(err)
	}
}

func TestAppend(t *testing.T) {
	t.Run("ATT-11 intent, start and end, as lines of JSON", func(t *testing.T) {
		d := newDisk()
		w := journal.NewWriter(d)
		mustAppend(t, w, journal.Intent(session, []string{"sh", "-c", "id <&1"}, true, at))
		mustAppend(t, w, journal.Start(session, process, at.Add(time.Second)))
		mustAppend(t, w, journal.End(session, process, 137, at.Add(2*time.Second)))
		const who = `"node":"n1","containerID":"c1","execID":"e1","auditID":"f4a3b2c1","sandboxID":"s1","namespace":"shop","pod":"web-0","podUID":"u1","container":"app"`
		want := strings.Join([]string{
			`{"version":1,"kind":"intent","time":"2026-11-21T04:10:00.00000025Z",` + who + `,"argv":["sh","-c","id \u003c\u00261"],"tty":true}`,
			`{"version":1,"kind":"start","time":"2026-11-21T04:10:01.00000025Z",` + who + `,"pid":4711,"startTicks":123456,"bootID":"b1","sessionID":77}`,
			`{"version":1,"kind":"end","time":"2026-11-21T04:10:02.00000025Z",` + who + `,"pid":4711,"startTicks":123456,"bootID":"b1","sessionID":77,"exitCode":137}`,
			"",
		}, "\n")
		if got := d.written.String(); got != want {
			t.Errorf("journal:\n%s\nwant:\n%s", got, want)
		}
	})
	t.Run("ATT-11 a crash right after Append leaves the record", func(t *testing.T) {
		d := newDisk()
		w := journal.NewWriter(d)
		for i, r := range []journal.Record{journal.Intent(session, nil, false, at), journal.Start(session, process, at), journal.End(session, process, 0, at)} {
			mustAppend(t, w, r)
			if records, faults := readAll(t, d.afterCrash()); len(records) != i+1 || faults != nil || records[i].Kind != r.Kind {
				t.Fatalf("a crash after %s leaves %v, %v", r.Kind, records, faults)
			}
		}
	})
	t.Run("ATT-11 a record that did not wait for the disk is written at once, and durable after what syncs next", func(t *testing.T) {
		for name, sync := range map[string]func(*journal.Writer) error{
			"Append": func(w *journal.Writer) error { return w.Append(journal.End(session, process, 0, at)) },
			"Sync":   (*journal.Writer).Sync,
			"Close":  (*journal.Writer).Close,
		} {
			d := newDisk()
			w := journal.NewWriter(d)
			if err := w.AppendUnsynced(journal.Start(session, process, at)); err != nil {
				t.Fatal(err)
			}
			if written, _ := readAll(t, d.written.Bytes()); len(written) != 1 || d.syncs != 0 {
				t.Fatalf("%d records after %d syncs, want 1 without", len(written), d.syncs)
			}
			if err := sync(w); err != nil {
				t.Fatal(err)
			}
			if records, faults := readAll(t, d.afterCrash()); len(records) == 0 || records[0].Kind != journal.KindStart || faults != nil {
				t.Errorf("a crash after %s leaves %v, %v", name, records, faults)
			}
		}
	})
	t.Run("a record that no reader could use is refused", func(t *testing.T) {
		d := newDisk()
		err := journal.NewWriter(d).Append(journal.Intent(journal.Session{Node: "n"}, nil, false, at))
		if !errors.Is(err, journal.ErrInvalidRecord) || d.written.Len() != 0 {
			t.Errorf("Append = %v, wrote %q", err, d.written.String())
		}
	})
	t.Run("a line that is too long is refused", func(t *testing.T) {
		d := newDisk()
		long := session
		long.Pod = strings.Repeat("x", journal.MaxLineBytes)
		if err := journal.NewWriter(d).Append(journal.Intent(long, nil, false, at)); !errors.Is(err, journal.ErrLineTooLong) || d.written.Len() != 0 {
			t.Errorf("Append = %v, wrote %d bytes", err, d.written.Len())
		}
	})
}

func TestFaults(t *testing.T) {
	t.Run("ATT-11 a full disk is an error, and later records stand on their own lines", func(t *testing.T) {
		d := newDisk()
		w := journal.NewWriter(d)
		mustAppend(t, w, journal.Intent(session, nil, false, at))
		d.room = 50
		if err := w.Append(journal.Start(session, process, at)); err == nil {
			t.Fatal("Append on a full disk returned nil")
		}
		d.room = -1
		mustAppend(t, w, journal.End(session, process, 0, at))
		records, faults := readAll(t, d.written.Bytes())
		if len(records) != 2 || records[1].Kind != journal.KindEnd || len(faults) != 1 || faults[0].Error() != "journal:2: not a journal record in JSON" {
			t.Errorf("read %v, %v", records, faults)
		}
	})
	t.Run("ATT-11 a failed sync is an error", func(t *testing.T) {
		d := newDisk()
		d.syncErr = errors.New("input/output error")
		w := journal.NewWriter(d)
		if err := w.Append(journal.Intent(session, nil, false, at)); !errors.Is(err, d.syncErr) {
			t.Errorf("Append = %v, want %v", err, d.syncErr)
		}
		if err := w.Close(); !errors.Is(err, d.syncErr) {
			t.Errorf("Close = %v, want %v", err, d.syncErr)
		}
	})
	t.Run("EXA-39 a short write without an error is one", func(t *testing.T) {
		d := &forgetful{disk: newDisk()}
		w := journal.NewWriter(d)
		if err := w.Append(journal.Intent(session, nil, false, at)); !errors.Is(err, io.ErrShortWrite) {
			t.Errorf("Append = %v, want %v", err, io.ErrShortWrite)
		}
		mustAppend(t, w, journal.End(session, process, 0, at))
		records, faults := readAll(t, d.written.Bytes())
		if len(records) != 1 || records[0].Kind != journal.KindEnd || len(faults) != 1 {
			t.Errorf("read %v, %v", records, faults)
		}
	})
}

// forgetful is a disk that loses the second half of the first write and does not say so.
type forgetful struct {
	*disk
	lost bool
}

func (f *forgetful) Write(b []byte) (int, error) {
	if !f.lost {
		f.lost = true
		b = b[:len(b)/2]
	}
	return f.disk.Write(b)
}

// TestStickyError: a disk that could not keep what it took once says later that all is well, though it kept nothing.
func TestStickyError(t *testing.T) {
	broken := errors.New("input/output error")
	calls := map[string]func(*journal.Writer) error{
		"Append":         func(w *journal.Writer) error { return w.Append(journal.End(session, process, 0, at)) },
		"AppendUnsynced": func(w *journal.Writer) error { return w.AppendUnsynced(journal.End(session, process, 0, at)) },
		"Sync":           (*journal.Writer).Sync,
		"Close":          (*journal.Writer).Close,
	}
	failed := func(t *testing.T, d *disk) *journal.Writer {
		t.Helper()
		w := journal.NewWriter(d)
		d.syncErr = broken
		if err := w.Append(journal.Intent(session, nil, false, at)); !errors.Is(err, broken) {
			t.Fatalf("Append = %v, want %v", err, broken)
		}
		d.syncErr = nil
		return w
	}
	for name, call := range calls {
		t.Run("EXA-39 a failed sync sticks: "+name, func(t *testing.T) {
			d := newDisk()
			w := failed(t, d)
			before := d.written.Len()
			if err := call(w); !errors.Is(err, broken) || !errors.Is(err, journal.ErrSyncFailed) {
				t.Errorf("%s after a failed sync = %v, want %v", name, err, broken)
			}
			if d.syncs != 0 || d.written.Len() != before {
				t.Errorf("%d more syncs and %d more bytes after a failed sync, want none", d.syncs, d.written.Len()-before)
			}
		})
	}
	t.Run("EXA-39 a record that waited for the sync that failed is not taken for durable", func(t *testing.T) {
		d := newDisk()
		w := journal.NewWriter(&failsOnce{disk: d, err: broken})
		late := make(chan error, 1)
		d.onSync = func() {
			d.onSync = nil
			go func() { late <- w.Append(journal.End(session, process, 0, at)) }()
			d.awaitLines(2)
		}
		if err := w.Append(journal.Intent(session, nil, false, at)); !errors.Is(err, broken) {
			t.Errorf("Append = %v, want %v", err, broken)
		}
		if err := <-late; !errors.Is(err, broken) {
			t.Errorf("Append beside it = %v, want %v", err, broken)
		}
	})
}

// failsOnce is a disk whose first sync fails and whose later ones say that all is well.
type failsOnce struct {
	*disk
	err error
}

func (f *failsOnce) Sync() error {
	err := f.err
	f.err = nil
	return errors.Join(f.disk.Sync(), err)
}

func TestAppendConcurrently(t *testing.T) {
	const writers, each = 16, 20
	d := newDisk()
	w := journal.NewWriter(d)
	var all sync.WaitGroup
	for i := range writers {
		all.Go(func() {
			mine := session
			mine.ExecID = fmt.Sprint(i)
			for n := range each {
				if err := w.Append(journal.End(mine, process, n, at)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	records, faults := readAll(t, d.afterCrash())
	if len(records) != writers*each || faults != nil {
		t.Fatalf("%d records, faults %v, want %d", len(records), faults, writers*each)
	}
	next := map[string]int{}
	for _, r := range records {
		if *r.ExitCode != next[r.ExecID] {
			t.Fatalf("session %s: record %d came at %d", r.ExecID, *r.ExitCode, next[r.ExecID])
		}
		next[r.ExecID]++
	}
}

func TestSharedSync(t *testing.T) {
	t.Run("ATT-11 records that arrive during a sync share the next one", func(t *testing.T) {
		d := newDisk()
		w := journal.NewWriter(d)
		var late sync.WaitGroup
		d.onSync = func() {
			d.onSync = nil
			for range 2 {
				late.Go(func() { _ = w.Append(journal.End(session, process, 0, at)) })
			}
			d.awaitLines(3)
		}
		mustAppend(t, w, journal.Intent(session, nil, false, at))
		late.Wait()
		if records, faults := readAll(t, d.afterCrash()); len(records) != 3 || faults != nil || d.syncs != 2 {
			t.Errorf("%d records, faults %v after %d syncs, want 3 after 2", len(records), faults, d.syncs)
		}
	})
}
