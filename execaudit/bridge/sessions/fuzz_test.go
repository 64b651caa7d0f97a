package sessions_test

import (
	"bytes"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/lanyard-dev/lanyard/execaudit/bridge"
	"github.com/lanyard-dev/lanyard/execaudit/bridge/sessions"
)

func FuzzDecode(f *testing.F) {
	for _, seed := range []string{recordLine, "", "null", "[]", "{}", `{"version":1}`, strings.Replace(recordLine, `"tty"`, `"later"`, 1), recordLine[:99], `{"version":1,"user":{"name":null}}`, "{\"version\":1,\"command\":[\"\xff\"]}"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		got, err := sessions.Decode(text)
		if err != nil {
			var fault *sessions.Fault
			if !errors.As(err, &fault) || len(err.Error()) > 100 {
				t.Fatalf("Decode(%q): %v", text, err)
			}
			return
		}
		line, err := sessions.Encode(got)
		if err != nil || len(line) > sessions.MaxLineBytes {
			t.Fatalf("read what cannot be written: %d bytes, %v", len(line), err)
		}
		again, err := sessions.Decode(line)
		if err != nil {
			t.Fatal(err)
		}
		if twice, err := sessions.Encode(again); err != nil || string(twice) != string(line) {
			t.Fatalf("%s became %s, %v", line, twice, err)
		}
	})
}

func FuzzDecodeAudits(f *testing.F) {
	log, err := os.ReadFile("testdata/audit.jsonl")
	if err != nil {
		f.Fatal(err)
	}
	for line := range strings.Lines(string(log)) {
		f.Add([]byte(line))
	}
	for _, seed := range []string{"", "{}", `{"items":["exec.lanyard.dev/session"]}`, event("a"), `{"items":[` + event("a") + `]}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		audits, err := sessions.DecodeAudits(text)
		var fault *sessions.Fault
		if err != nil && (!errors.As(err, &fault) || len(err.Error()) > 100) {
			t.Fatalf("DecodeAudits(%q): %v", text, err)
		}
		for _, a := range audits {
			if a.Session == (bridge.SessionID{}) || a.AuditID == "" || a.User.Name == "" || a.Time.IsZero() {
				t.Fatalf("DecodeAudits(%q) = %+v", text, a)
			}
		}
		sessions.Judge(sessions.Evidence{Audits: audits}, at)
	})
}

// FuzzRead holds both readers to their decoders, line by line: a fault is one line's and hides no other.
func FuzzRead(f *testing.F) {
	for _, seed := range []string{"", recordLine, recordLine + "\n{\n\n" + recordLine + "\r\n", event("a") + "\n" + event("b"), "{}\n" + event("a") + "\nnull", "\n\n\xff"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		var wantRecords, wantAudits, faults int
		for line := range bytes.Lines(text) {
			if line = bytes.TrimSpace(line); len(line) == 0 {
				continue
			}
			if _, err := sessions.Decode(line); err == nil {
				wantRecords++
			}
			audits, err := sessions.DecodeAudits(line)
			if wantAudits += len(audits); err != nil {
				faults++
			}
		}
		got := 0
		for _, err := range sessions.Read(bytes.NewReader(text), "records") {
			var fault *sessions.LineError
			if err == nil {
				got++
			} else if !errors.As(err, &fault) {
				t.Fatalf("Read(%q): %v", text, err)
			}
		}
		gotAudits, gotFaults := 0, 0
		for _, err := range sessions.ReadAudits(bytes.NewReader(text), "audit") {
			if err == nil {
				gotAudits++
			} else {
				gotFaults++
			}
		}
		if got != wantRecords || gotAudits != wantAudits || gotFaults != faults {
			t.Fatalf("%q: %d records, %d audit events and %d faults, want %d, %d and %d", text, got, gotAudits, gotFaults, wantRecords, wantAudits, faults)
		}
	})
}
