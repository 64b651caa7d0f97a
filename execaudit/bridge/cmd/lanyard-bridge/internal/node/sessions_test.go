//go:build linux

package node

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/lanyard-dev/lanyard/execaudit/bridge"
	"github.com/lanyard-dev/lanyard/execaudit/bridge/sessions"
	"github.com/lanyard-dev/lanyard/execaudit/bridge/spool"
	"github.com/lanyard-dev/lanyard/execaudit/bridge/token"
	"github.com/lanyard-dev/lanyard/execaudit/journal"
)

// list runs the command.
func list(t *testing.T, args ...string) (out string, lines []line, err error) {
	t.Helper()
	call := func(args ...string) (string, error) {
		var text bytes.Buffer
		c := Sessions()
		c.SetArgs(args)
		c.SetOut(&text)
		c.SetErr(io.Discard)
		c.SilenceUsage, c.SilenceErrors = true, true
		err := c.Execute()
		return text.String(), err
	}
	out, err = call(args...)
	text, _ := call(append(args, "-o", "json")...)
	for part := range strings.Lines(text) {
		var l line
		must(t, json.Unmarshal([]byte(part), &l))
		lines = append(lines, l)
	}
	return out, lines, err
}

func file(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "file")
	must(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

// admitted is the webhook's record of a session of the spool.
func admitted(t *testing.T, r spool.Record, user string) string {
	t.Helper()
	text, err := sessions.Encode(sessions.Record{
		Session: r.Session, RequestUID: "r-" + r.Session.String(), Time: r.Time, User: token.User{Name: user},
		Namespace: "shop", Pod: "web-0", PodUID: "u", Container: "app", Node: "n1", Command: r.Argv,
		Source: sessions.SourceExec, Outcome: bridge.OutcomeMarked, Expiry: r.Expiry,
	})
	must(t, err)
	return strings.TrimSpace(string(text)) + "\n"
}

func audited(r spool.Record, user string) string {
	return fmt.Sprintf(`{"kind":"Event","apiVersion":"audit.k8s.io/v1","level":"Metadata","auditID":"a-1","stage":"ResponseComplete","requestURI":"/","verb":"create",`+
		`"user":{"username":%q},"objectRef":{"resource":"pods","namespace":"shop","name":"web-0","subresource":"exec"},"requestReceivedTimestamp":%q,`+
		`"stageTimestamp":%q,"annotations":{%q:%q,%q:"marked"}}`+"\n",
		user, r.Time.Format(time.RFC3339Nano), r.Time.Format(time.RFC3339Nano), bridge.AuditSession, r.Session, bridge.AuditOutcome)
}

func TestSessions(t *testing.T) {
	path := filepath.Join(t.TempDir(), "sessions.jsonl")
	w, err := journal.Open(path, journal.Options{})
	must(t, err)
	alice, bob, forged, unused := record(1), record(2), record(3), record(4)
	unused.Time, unused.Expiry = time.Now().Add(-time.Hour), time.Now().Add(-50*time.Minute)
	bob.Argv = []string{"sh", "-c", "echo \x1b[2J 'x'", ""}
	for _, r := range []spool.Record{alice, bob, forged} {
		must(t, w.Append(*newEntry(r).owed[stepIntent]))
	}
	must(t, w.Append(journal.Refused(journal.Session{Node: "n1", ContainerID: "c", ExecID: "e", Namespace: "shop", Pod: "web-0"}, "token was used before", []string{spool.TokenPlace, "id"}, false, time.Now())))
	must(t, w.Close())
	records := file(t, admitted(t, alice, "alice")+admitted(t, bob, "bob\u202e")+admitted(t, unused, "carol"))
	audit := file(t, audited(alice, "alice"))

	t.Run("BRG-12 each session's user and verdict", func(t *testing.T) {
		out, lines, err := list(t, "--records", records, "--audit", audit, "--journal", path)
		must(t, err)
		want := map[string][2]string{
			alice.Session.String(): {"alice", "corroborated"}, bob.Session.String(): {"bob\u202e", "admitted"},
			forged.Session.String(): {"", "forged"}, unused.Session.String(): {"carol", "unused"},
		}
		for _, l := range lines {
			if l.Kind != lineSession {
				continue
			}
			if got := [2]string{l.User, l.Verdict}; got != want[l.Session] {
				t.Errorf("session %s: %q, want %q", l.Session, got, want[l.Session])
			}
			delete(want, l.Session)
		}
		if len(want) > 0 {
			t.Errorf("not listed: %v", want)
		}
		if last := lines[len(lines)-1]; last.Kind != lineRefusal || last.Verdict != "refused" || last.Why != "token was used before" {
			t.Errorf("the last line %+v, want the refusal", last)
		}
		for _, part := range []string{"corroborated  shop/web-0/app  sh -c 1", `bob\u202e`, `"echo \x1b[2J 'x'" ""`, "token was used before"} {
			if !strings.Contains(out, part) {
				t.Errorf("no %q in\n%s", part, out)
			}
		}
		if strings.ContainsAny(out, "\x1b\u202e") {
			t.Errorf("what others wrote reaches the terminal: %q", out)
		}
	})
	t.Run("BRG-12 without a journal nobody is said to have used nothing", func(t *testing.T) {
		_, lines, err := list(t, "--records", records)
		must(t, err)
		for _, l := range lines {
			if l.Verdict != "admitted" {
				t.Errorf("%+v", l)
			}
		}
	})
	t.Run("BRG-12 files that were rotated away are read with the one that is named, each once", func(t *testing.T) {
		rotated := file(t, admitted(t, unused, "carol"))
		must(t, os.WriteFile(rotated+".00000001", []byte("{\n"+admitted(t, alice, "alice")), 0o600))
		must(t, os.WriteFile(rotated+".00000002", []byte(admitted(t, bob, "bob")), 0o600))
		events := file(t, "")
		must(t, os.WriteFile(events+".00000001", []byte(audited(alice, "alice")), 0o600))
		out, lines, err := list(t, "--audit", events, "--records", rotated, "--records", rotated+".00000001", "--records", rotated+".00000002")
		if err == nil || !strings.HasPrefix(err.Error(), "1 lines") || len(lines) != 3 || strings.Count(out, "corroborated") != 1 {
			t.Fatalf("%v: %d lines\n%s", err, len(lines), out)
		}
	})
	t.Run("BRG-12 a line that cannot be used is told, and the rest answered", func(t *testing.T) {
		out, _, err := list(t, "--records", file(t, "{\n"+admitted(t, alice, "alice")))
		if err == nil || !strings.Contains(out, "alice") {
			t.Errorf("%v:\n%s", err, out)
		}
	})
	for name, args := range map[string][]string{
		"BRG-12 a file that is missing":    {"--records", "/no/such/file"},
		"BRG-12 a journal that is missing": {"--journal", "/no/such/journal"},
		"BRG-12 an output that is none":    {"-o", "yaml"},
		"BRG-12 an argument":               {"x"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, _, err := list(t, args...); err == nil {
				t.Error("no error")
			}
		})
	}
	t.Run("BRG-12 a command that is long is cut for people", func(t *testing.T) {
		if got := command([]string{"echo", strings.Repeat("é", 1000)}); len([]rune(got)) != maxCommand || !strings.HasSuffix(got, "…") {
			t.Errorf("%q", got)
		}
	})
}

func TestLive(t *testing.T) {
	t.Run("BRG-3 each process's user, and a forged mark", func(t *testing.T) {
		o := options(t)
		_, stop := start(t, o)
		r := record(1)
		session(t, o, r, "env -i setsid sleep 1000 & wait")
		oneOf(t, o, journal.KindStart, r)
		stop()
		// It writes the session's login UID, as anybody may, and gets another session ID of the kernel's.
		forger := record(2)
		forger.Session = r.Session
		elsewhere := t.TempDir()
		c := wrapper(t, wrapping{Spool: elsewhere, Record: forger, Argv: []string{"/bin/sleep", "2000"}})
		must(t, c.Start())
		t.Cleanup(func() { _ = c.Process.Kill(); _ = c.Wait() })
		waits := record(3) // in no journal yet
		session(t, o, waits, "exec sleep 3000")
		var out string
		commands := map[string]line{}
		eventually(t, "all processes", func() bool {
			var lines []line
			var err error
			out, lines, err = list(t, "--records", file(t, admitted(t, r, "alice")+admitted(t, waits, "bob")), "--journal", o.journalFile(), "--proc", "--spool", o.spoolDir())
			must(t, err)
			for _, l := range lines {
				if l.Kind == lineProcess {
					commands[strings.Join(l.Command, " ")] = l
				}
			}
			_, a := commands["sleep 1000"]
			_, b := commands["/bin/sleep 2000"]
			_, c := commands["sleep 3000"]
			return a && b && c && strings.Contains(out, "sleep 2000")
		})
		if l := commands["sleep 1000"]; l.User != "alice" || l.Verdict != "admitted" || l.Session != r.Session.String() {
			t.Errorf("the child that emptied its environment: %+v", l)
		}
		if l := commands["sleep 3000"]; l.User != "bob" || l.Verdict != "admitted" {
			t.Errorf("the session that waits in the spool: %+v", l)
		}
		if l := commands["/bin/sleep 2000"]; l.User != "" || l.Verdict != "forged mark" || l.Claimed != r.Session.String() || l.PID != c.Process.Pid {
			t.Errorf("the forger: %+v", l)
		}
		if !strings.Contains(out, "forged mark (claims "+r.Session.String()+")") {
			t.Error(out)
		}
	})
}
