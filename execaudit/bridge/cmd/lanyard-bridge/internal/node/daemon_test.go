//go:build linux

package node

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/lanyard-dev/lanyard/execaudit/bridge"
	"github.com/lanyard-dev/lanyard/execaudit/bridge/spool"
	"github.com/lanyard-dev/lanyard/execaudit/bridge/token"
	"github.com/lanyard-dev/lanyard/execaudit/journal"
)

func TestFold(t *testing.T) {
	t.Run("BRG-3 a session whose process nobody sees is an intent and a lost end", func(t *testing.T) {
		o := options(t)
		r := record(1)
		r.AuditID, r.TTY, r.ArgvTruncated = "audit-1", true, true
		leave(t, o.spoolDir(), r) // before the daemon
		start(t, o)
		id := r.Session.String()
		eventually(t, "its end", func() bool { return len(of(records(t, o.journalFile()), journal.KindEnd, id)) == 1 })
		all := records(t, o.journalFile())
		if len(all) != 2 {
			t.Fatalf("records %+v", all)
		}
		want := journal.Marked(journal.Intent(journal.Session{
			Node: "n1", ContainerID: r.Where.ContainerID, ExecID: "exec1", AuditID: "audit-1", ExecSession: id,
			Namespace: "shop", Pod: "web-0", PodUID: "u", Container: "app",
		}, r.Argv, true, r.Time), journal.Process{BootID: r.BootID, SessionID: r.SessionID, LoginUID: r.LoginUID})
		want.ArgvTruncated = true
		if got := fmt.Sprintf("%+v", all[0]); got != fmt.Sprintf("%+v", want) {
			t.Errorf("intent %s\nwant %+v", got, want)
		}
		if all[1].Reason != lostUnseen || all[1].SessionID != r.SessionID || all[1].ExitCode != nil {
			t.Errorf("end %+v", all[1])
		}
		if info, err := os.Stat(filepath.Join(o.spoolDir(), fmt.Sprintf("%x.json", r.Nonce))); err != nil || info.Mode() != 0o400 {
			t.Errorf("its file in the spool: %v, %v: it bars the token until that has expired", info, err)
		}
	})
	t.Run("BRG-6 what cannot be read in the spool stops nothing and stays where it is", func(t *testing.T) {
		o := options(t)
		at := func(name string) string { return filepath.Join(o.spoolDir(), name) }
		hostile := map[string]func(path string) error{
			strings.Repeat("0", 32) + ".json": func(p string) error { return os.WriteFile(p, []byte(`{"version":1,`), 0o600) },
			strings.Repeat("1", 32) + ".json": func(p string) error { return os.WriteFile(p, nil, 0o600) },
			strings.Repeat("2", 32) + ".json": func(p string) error { return os.Symlink("/dev/zero", p) },
			strings.Repeat("3", 32) + ".json": func(p string) error { return unix.Mkfifo(p, 0o600) },
			strings.Repeat("4", 32) + ".json": func(p string) error { return os.Mkdir(p, 0o700) },
			strings.Repeat("5", 32) + ".json": func(p string) error {
				return os.WriteFile(p, bytes.Repeat([]byte("x"), 1<<20), 0o600)
			},
			"refused-000.json": func(p string) error { return unix.Mkfifo(p, 0o600) },
			"refused-001.json": func(p string) error { return os.Symlink("/dev/zero", p) },
			"refused-002.json": func(p string) error { return os.WriteFile(p, []byte("\x1b[2J"), 0o600) },
		}
		for name, make := range hostile {
			must(t, make(at(name)))
		}
		past := time.Now().Add(-time.Hour) // it will not be complete any more
		for _, name := range []string{strings.Repeat("0", 32) + ".json", "refused-002.json"} {
			must(t, os.Chtimes(at(name), past, past))
		}
		status, _ := start(t, o)
		r := record(1)
		leave(t, o.spoolDir(), r)
		must(t, spool.Refuse(o.spoolDir(), spool.Refusal{Reason: "x", Time: time.Now()}))
		eventually(t, "the good ones", func() bool {
			all := records(t, o.journalFile())
			return len(of(all, journal.KindIntent, r.Session.String())) == 1 && len(of(all, journal.KindRefusal, "")) == 1
		})
		for name := range hostile {
			if _, err := os.Lstat(at(name)); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
		eventually(t, "all but the one that may be being written are told", func() bool { return len(status.Status().Broken) == len(hostile)-1 })
	})
	t.Run("BRG-4 a refusal is a record of its own, and leaves the spool", func(t *testing.T) {
		o := options(t)
		status, stop := start(t, o)
		id := bridge.NewSessionID()
		verified := spool.Refusal{
			Session: id, Verified: true, Where: record(7).Where, Reason: spool.ErrReplayed.Error(), Argv: []string{spool.TokenPlace, "id"}, TTY: true, Time: time.Now().UTC(),
		}
		claimed := spool.Refusal{Session: id, Reason: (&token.Fault{Err: token.ErrUnknownKey}).Error(), Time: time.Now().UTC()}
		must(t, spool.Refuse(o.spoolDir(), verified))
		must(t, spool.Refuse(o.spoolDir(), claimed))
		eventually(t, "both in the journal and out of the spool", func() bool {
			entries, err := os.ReadDir(o.spoolDir())
			return err == nil && len(entries) == 0 && len(of(records(t, o.journalFile()), journal.KindRefusal, "")) == 2
		})
		stop()
		for _, r := range records(t, o.journalFile()) {
			good := r.ExecSession == id.String() && r.Reason == verified.Reason && r.ContainerID == verified.Where.ContainerID && r.TTY ||
				r.ExecSession == "" && strings.Contains(r.Reason, "it claims session "+id.String()) && r.ContainerID == unknown
			if !good {
				t.Errorf("refusal %+v", r)
			}
		}
		text := metrics(t, status)
		for _, line := range []string{`refusals_total{reason="replayed"} 1`, `refusals_total{reason="unknown_key"} 1`, `records_total{kind="refusal"} 2`} {
			if !strings.Contains(text, line) {
				t.Errorf("no %s in\n%s", line, text)
			}
		}
	})
	t.Run("BRG-3 a session without a mark is told as such", func(t *testing.T) {
		o := options(t)
		r := record(1)
		r.Mark, r.SessionID, r.LoginUID = "the login UID is immutable", 0, 0
		leave(t, o.spoolDir(), r)
		status, _ := start(t, o)
		eventually(t, "its end", func() bool {
			end := of(records(t, o.journalFile()), journal.KindEnd, r.Session.String())
			return len(end) == 1 && strings.HasSuffix(end[0].Reason, r.Mark) && end[0].SessionID == 0
		})
		if text := metrics(t, status); !strings.Contains(text, "mark_failures_total 1") {
			t.Error(text)
		}
	})
	t.Run("BRG-6 the spool forgets a token when its time is over, and never before the journal has it", func(t *testing.T) {
		o := options(t)
		o.Rescan = 10 * time.Millisecond
		old, fresh := record(1), record(2)
		old.Expiry = time.Now().Add(-margin - time.Minute)
		leave(t, o.spoolDir(), old)
		leave(t, o.spoolDir(), fresh)
		start(t, o)
		eventually(t, "one is left", func() bool {
			entries, err := os.ReadDir(o.spoolDir())
			return err == nil && len(entries) == 1 && entries[0].Name() == fmt.Sprintf("%x.json", fresh.Nonce)
		})
		if n := len(of(records(t, o.journalFile()), journal.KindIntent, "")); n != 2 {
			t.Errorf("%d intents, want 2", n)
		}
	})
	t.Run("BRG-6 a spool that is replaced while the daemon runs is watched again", func(t *testing.T) {
		o := options(t)
		o.Rescan = 10 * time.Millisecond
		start(t, o)
		must(t, os.Rename(o.spoolDir(), o.spoolDir()+".old"))
		must(t, os.Mkdir(o.spoolDir(), 0o700))
		r := record(1)
		leave(t, o.spoolDir(), r)
		eventually(t, "its intent", func() bool { return len(of(records(t, o.journalFile()), journal.KindIntent, r.Session.String())) == 1 })
	})
	t.Run("BRG-6 of a flood of refusals those beyond are counted", func(t *testing.T) {
		o := options(t)
		for range spool.MaxRefusals + 5 {
			must(t, spool.Refuse(o.spoolDir(), spool.Refusal{Reason: "x", Time: time.Now()}))
		}
		status, _ := start(t, o)
		eventually(t, "the count", func() bool { return strings.Contains(metrics(t, status), `refusals_total{reason="beyond"} 5`) })
		all := of(records(t, o.journalFile()), journal.KindRefusal, "")
		if last := all[len(all)-1]; len(all) != spool.MaxRefusals+1 {
			t.Errorf("%d refusals, the last %+v", len(all), last)
		}
	})
}

func TestNothingIsLeft(t *testing.T) {
	t.Run("BRG-6 daemons that ended leave no goroutine and no descriptor", func(t *testing.T) {
		count := func() (goroutines, descriptors int) {
			entries, err := os.ReadDir("/proc/self/fd")
			must(t, err)
			return runtime.NumGoroutine(), len(entries)
		}
		live := func() {
			o := options(t)
			_, stop := start(t, o)
			r := record(1)
			leave(t, o.spoolDir(), r)
			eventually(t, "its intent", func() bool { return len(of(records(t, o.journalFile()), journal.KindIntent, r.Session.String())) == 1 })
			stop()
		}
		live() // the poller's descriptors stay
		goroutines, descriptors := count()
		const daemons = 20 // more than what other tests may still be ending
		for range daemons {
			live()
		}
		eventually(t, "no more than before", func() bool {
			g, d := count()
			return g < goroutines+daemons/2 && d < descriptors+daemons/2
		})
	})
}

func BenchmarkFold(b *testing.B) {
	for _, used := range []int{0, 1000, 10_000} {
		b.Run(fmt.Sprintf("%d tokens used before", used), func(b *testing.B) {
			o := options(b)
			dir := o.spoolDir()
			for i := range used {
				r := record(i)
				must(b, os.WriteFile(filepath.Join(dir, fmt.Sprintf("%x.json", r.Nonce)), r.Encode(), 0o400))
			}
			o = o.withDefaults()
			d, err := newDaemon(o, newBoard(o))
			must(b, err)
			d.fold()
			d.reopen()
			n := used
			b.ResetTimer()
			for b.Loop() {
				r := record(n)
				n++
				must(b, os.WriteFile(filepath.Join(dir, fmt.Sprintf("%x.json", r.Nonce)), r.Encode(), 0o600))
				d.fold()
				d.flush()
			}
			b.StopTimer()
			must(b, d.close())
		})
	}
}

func BenchmarkReopen(b *testing.B) {
	o := options(b)
	o = o.withDefaults()
	d, err := newDaemon(o, newBoard(o))
	must(b, err)
	d.reopen()
	var all []*journal.Record
	for n := range 100_000 {
		e := newEntry(record(n))
		e.end(nil, lostUnseen, time.Now())
		all = append(all, e.owed[stepIntent], e.owed[stepEnd])
	}
	must(b, d.book.append(all, d.unwritable))
	info, err := os.Stat(o.journalFile())
	must(b, err)
	b.SetBytes(info.Size())
	for b.Loop() {
		must(b, d.book.close())
		d.reopen()
	}
	must(b, d.close())
}

func metrics(t testing.TB, status *board) string {
	t.Helper()
	w := httptest.NewRecorder()
	status.handler().ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	return w.Body.String()
}

func TestServe(t *testing.T) {
	get := func(status *board, path string) *httptest.ResponseRecorder {
		w := httptest.NewRecorder()
		status.handler().ServeHTTP(w, httptest.NewRequest("GET", path, nil))
		return w
	}
	t.Run("BRG-9 the status says what the daemon knows", func(t *testing.T) {
		o := options(t)
		status, _ := start(t, o)
		eventually(t, "ready", func() bool { return get(status, "/readyz").Code == 200 })
		var s Status
		must(t, json.Unmarshal(get(status, "/status").Body.Bytes(), &s))
		if s.Node != "n1" || s.Spool != "/state/spool" || s.Journal != "/state/journal/sessions.jsonl" || s.Sealed || s.JournalError != "" {
			t.Errorf("status %+v", s)
		}
		if get(status, "/healthz").Code != 200 || get(status, "/").Code != 404 {
			t.Error("healthz, or a path that is none")
		}
	})
	t.Run("BRG-6 a journal that cannot be opened is told, and not ready", func(t *testing.T) {
		o := options(t)
		must(t, os.MkdirAll(o.journalFile(), 0o700)) // a directory in its place
		status, _ := start(t, o)
		r := record(1)
		leave(t, o.spoolDir(), r)
		eventually(t, "not ready", func() bool { return get(status, "/readyz").Code == 503 })
		eventually(t, "what waits", func() bool { return status.Status().Waiting == 1 })
		must(t, os.Remove(o.journalFile()))
		eventually(t, "its intent", func() bool { return len(of(records(t, o.journalFile()), journal.KindIntent, r.Session.String())) == 1 })
		eventually(t, "ready", func() bool { return get(status, "/readyz").Code == 200 })
	})
}
