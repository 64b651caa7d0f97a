package attribution_test

import (
	"bytes"
	"encoding/base64"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/lanyard-dev/lanyard/execaudit/attribution"
	"github.com/lanyard-dev/lanyard/execaudit/attribution/auditlog"
	"github.com/lanyard-dev/lanyard/execaudit/attribution/falco"
	"github.com/lanyard-dev/lanyard/execaudit/attribution/journal"
	"github.com/lanyard-dev/lanyard/execaudit/attribution/procevents"
	"github.com/lanyard-dev/lanyard/execaudit/attribution/spo"
	"github.com/lanyard-dev/lanyard/execaudit/attribution/tetragon"
	"github.com/lanyard-dev/lanyard/execaudit/attribution/tracee"
)

const sampleID = "f4a3b2c1-5d6e-4f70-8192-a3b4c5d6e7f8"

var decoders = map[string]attribution.Decoder{
	"audit": auditlog.Decode, "tetragon": tetragon.Decode, "falco": falco.Decode, "tracee": tracee.Decode,
	"spo": spo.Decode, "journal": journal.Decode, "procevents": procevents.Decode,
}

// samples returns the lines of a format, as the agents' versions write them.
func samples(tb testing.TB, format string) [][]byte {
	tb.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", format+".jsonl"))
	if err != nil {
		tb.Fatal(err)
	}
	return bytes.Split(bytes.TrimSpace(data), []byte("\n"))
}

func decodeAll(tb testing.TB, format string) *attribution.Batch {
	tb.Helper()
	b := &attribution.Batch{Node: "n1"}
	for i, line := range samples(tb, format) {
		if err := decoders[format](line, b); err != nil {
			tb.Fatalf("%s line %d: %v", format, i+1, err)
		}
	}
	return b
}

var quarterPast = time.Date(2026, 11, 21, 4, 10, 0, 250e6, time.UTC)

func TestFormats(t *testing.T) {
	t.Run("ATT-3 ATT-7 audit log, list, exec over WebSocket and SPDY", func(t *testing.T) {
		b := decodeAll(t, "audit")
		if len(b.Audits) != 4 {
			t.Fatalf("%d exec requests, want 4", len(b.Audits))
		}
		a := b.Audits[0]
		switch {
		case a.AuditID != sampleID, a.Stage != attribution.StageResponseStarted, a.User.Name != "alice@example.com", a.User.UID != "u-17",
			strings.Join(a.User.Groups, " ") != "dev system:authenticated", a.User.Extra["authentication.kubernetes.io/credential-id"][0] != "X509SHA256=ab12",
			a.Impersonated == nil || a.Impersonated.Name != "bob", a.SourceIPs[0] != "203.0.113.9", a.UserAgent != "kubectl/v1.36.0 (linux/amd64) kubernetes/abcdef0",
			a.Namespace != "shop", a.Pod != "web-0", a.Container != "app", strings.Join(a.Command, " ") != "sh -c id", a.Code != 101,
			!a.Received.Equal(time.Date(2026, 11, 21, 4, 10, 0, 56518e3, time.UTC)), a.RequestUID != "aec3e0e1-0000-4000-8000-a7c58241f1a9":
			t.Errorf("Decode = %+v", a)
		}
		if b.Audits[2].Stage != attribution.StageResponseComplete {
			t.Errorf("stage %v", b.Audits[2].Stage)
		}
	})
	for _, format := range []string{"tetragon", "falco", "tracee", "procevents"} {
		t.Run("ATT-3 "+format, func(t *testing.T) {
			e := decodeAll(t, format).Events[0]
			if e.AuditID != sampleID || e.Node != "n1" || !e.Time.Equal(quarterPast) || e.Process.PID != 4711 || e.ContainerID[:12] != "8762eafc25a3" ||
				!strings.HasSuffix(e.Command, "sh -c id") || e.Agent != format {
				t.Errorf("Decode = %+v", e)
			}
		})
	}
	t.Run("ATT-3 Tetragon's trees, exits and activities", func(t *testing.T) {
		e := decodeAll(t, "tetragon").Events
		first := e[0]
		if !first.FirstImage || !first.ParentOutside || first.Parent.ExecID != "a2luZDo0MTk6MTIy" || first.Grandparent.ExecID != "a2luZDox" ||
			first.Namespace != "shop" || first.Pod != "web-0" || first.Container != "app" || first.ContainerID != "8762eafc25a35ab9" {
			t.Errorf("exec = %+v", first)
		}
		if e[1].Kind != attribution.KindExit || e[2].Kind != attribution.KindActivity || e[1].Process.ExecID != first.Process.ExecID {
			t.Errorf("exit, activity = %+v, %+v", e[1], e[2])
		}
	})
	t.Run("ATT-14 Tetragon's exec ID tells when an image began", func(t *testing.T) {
		for id, want := range map[string]uint64{"kind:1234567890123:4711": 123456, "a:node:50000000:7": 5, "kind::7": 0, "kind:-5:7": 0, "7": 0, "": 0} {
			var b attribution.Batch
			text := base64.StdEncoding.EncodeToString([]byte(id))
			if id == "" {
				text = "no base64!"
			}
			line := changed(t, "tetragon", "a2luZDo0MjA6MTIz", text)
			if err := decoders["tetragon"](line, &b); err != nil || b.Events[0].ImageTicks != want {
				t.Errorf("%q: %v, %d, want %d", id, err, b.Events[0].ImageTicks, want)
			}
		}
	})
	t.Run("ATT-3 Falco's word for nothing is nothing, and start times identify", func(t *testing.T) {
		e := decodeAll(t, "falco").Events[1]
		if e.Pod != "" || e.Namespace != "" || e.AuditID != "" || e.Kind != attribution.KindExec || !e.Process.Identified() || !e.Parent.Identified() {
			t.Errorf("Decode = %+v", e)
		}
	})
	t.Run("ATT-3 Tracee's newer form", func(t *testing.T) {
		e := decodeAll(t, "tracee").Events[1]
		if e.AuditID != sampleID || !e.Process.Identified() || e.ContainerID == "" || e.FirstImage || e.ParentOutside {
			t.Errorf("Decode = %+v", e)
		}
	})
	t.Run("ATT-3 SPO is joined by its request UID, never by its own auditID", func(t *testing.T) {
		e := decodeAll(t, "spo").Events[0]
		if e.AuditID != "" || e.RequestUID != "aec3e0e1-0000-4000-8000-a7c58241f1a9" || e.Pod != "web-0" || e.Container != "app" || e.Command != "touch demo-file" {
			t.Errorf("Decode = %+v", e)
		}
	})
	t.Run("ATT-3 the exec journal", func(t *testing.T) {
		r := decodeAll(t, "journal").Records
		if len(r) != 3 || r[0].Phase != attribution.PhaseIntent || strings.Join(r[0].Command, " ") != "sh -c id" || r[1].Process.StartTicks != 123456 ||
			r[2].Phase != attribution.PhaseEnd || r[2].Lost || r[1].AuditID != sampleID {
			t.Errorf("Decode = %+v", r)
		}
	})
	t.Run("ATT-3 ATT-15 AGT-2 of the node agent's lines, notices and what the runtime's own processes do are ignored", func(t *testing.T) {
		notice := `{"version":1,"notice":"lost","time":"2026-11-21T04:10:00Z","node":"n1","count":3,"process":{"pid":0}}`
		for line, ignored := range map[string]int{
			notice: 1, string(changed(t, "procevents", `"event"`, `"role":"runtime","event"`)): 1,
			string(changed(t, "procevents", `"event"`, `"role":"session","agent":"execaudit-agent","event"`)): 0,
		} {
			var b attribution.Batch
			if err := procevents.Decode([]byte(line), &b); err != nil || b.Ignored.OtherKinds != ignored || len(b.Events) != 1-ignored {
				t.Errorf("%s: %v, %+v", line, err, b)
			}
		}
		for _, line := range []string{
			strings.Replace(notice, `"version":1`, `"version":2`, 1), strings.Replace(notice, `"lost"`, `""`, 1), strings.Replace(notice, "}", "", 1),
			string(changed(t, "procevents", `"event":"exec"`, `"event":"x","role":"runtime"`)), string(changed(t, "procevents", `"event":"exec"`, `"event":"x","notice":"lost"`)),
		} {
			var b attribution.Batch
			if err := procevents.Decode([]byte(line), &b); !errors.Is(err, attribution.ErrMalformed) {
				t.Errorf("%s: %v, %+v", line, err, b)
			}
		}
	})
	t.Run("ATT-14 a process event tells when its first image began", func(t *testing.T) {
		var b attribution.Batch
		if err := procevents.Decode(changed(t, "procevents", `"event"`, `"imageTicks":123457,"event"`), &b); err != nil || b.Events[0].ImageTicks != 123457 {
			t.Errorf("%v, %+v", err, b.Events)
		}
	})
	t.Run("ATT-3 ATT-13 the kernel's session of a journal's record and of a process event, and its word for none", func(t *testing.T) {
		for value, want := range map[string]uint32{"7": 7, "4294967294": 4294967294, "null": 0, "0": 0} {
			var b attribution.Batch
			if err := journal.Decode(changed(t, "journal", `"execID"`, `"sessionID":`+value+`,"execID"`), &b); err != nil || b.Records[0].SessionID != want {
				t.Errorf("journal, session ID %s: %+v, %v", value, b.Records, err)
			}
			if err := procevents.Decode(changed(t, "procevents", `"event"`, `"sessionID":`+value+`,"event"`), &b); err != nil || b.Events[0].SessionID != want {
				t.Errorf("procevents, session ID %s: %+v, %v", value, b.Events, err)
			}
		}
		var b attribution.Batch
		if err := procevents.Decode(changed(t, "procevents", `"event"`, `"sessionID":4294967295,"event"`), &b); err != nil || b.Events[0].SessionID != 0 {
			t.Errorf("procevents, no session: %+v, %v", b.Events, err)
		}
		for _, value := range []string{"4294967296", "-1", `"7"`, "1.5"} {
			if err := procevents.Decode(changed(t, "procevents", `"event"`, `"sessionID":`+value+`,"event"`), &b); !errors.Is(err, attribution.ErrMalformed) {
				t.Errorf("procevents, session ID %s: %v", value, err)
			}
			if err := journal.Decode(changed(t, "journal", `"execID"`, `"sessionID":`+value+`,"execID"`), &b); !errors.Is(err, attribution.ErrMalformed) {
				t.Errorf("journal, session ID %s: %v", value, err)
			}
		}
	})
	t.Run("ATT-3 BRG-3 the mark of an intent is read, and makes no process", func(t *testing.T) {
		var b attribution.Batch
		err := journal.Decode(changed(t, "journal", `"execID"`, `"bootID":"b","sessionID":7,"loginUID":2013265920,"execSession":"s","execID"`), &b)
		if err != nil || b.Records[0].SessionID != 7 || b.Records[0].Process != (attribution.Process{BootID: "b"}) {
			t.Errorf("Decode = %+v, %v", b.Records, err)
		}
	})
	t.Run("ATT-3 BRG-4 a refusal is not a session", func(t *testing.T) {
		var b attribution.Batch
		err := journal.Decode(changed(t, "journal", `"kind":"intent"`, `"kind":"refusal","reason":"token: expired"`), &b)
		if err != nil || len(b.Records) != 0 || b.Ignored != (attribution.Ignored{OtherKinds: 1}) {
			t.Errorf("Decode = %+v, %+v, %v", b.Records, b.Ignored, err)
		}
		if err := journal.Decode(changed(t, "journal", `"kind":"intent"`, `"kind":"refusal"`), &b); !errors.Is(err, attribution.ErrMalformed) {
			t.Errorf("without reason: %v", err)
		}
	})
	t.Run("ATT-8 what the journal's own reader refuses is malformed, and so is what no kernel shows", func(t *testing.T) {
		for _, change := range [][2]string{
			{`"node"`, `"Node"`},
			{`"version":1`, `"version":1,"version":1`},
			{`"execID"`, `"pid":"7","execID"`},
			{`"execID"`, `"sessionID":4294967295,"execID"`},
			{`2026-11-21T`, `1969-11-21T`},
			{`2026-11-21T`, `9999-11-21T`},
			{`"execID"`, `"pid":2147483648,"execID"`},
		} {
			var b attribution.Batch
			if err := journal.Decode(changed(t, "journal", change[0], change[1]), &b); !errors.Is(err, attribution.ErrMalformed) || len(b.Records) > 0 {
				t.Errorf("%s for %s: %+v, %v", change[1], change[0], b.Records, err)
			}
		}
	})
	t.Run("every format tolerates unknown fields", func(t *testing.T) {
		for format, decode := range decoders {
			for _, line := range samples(t, format) {
				b := attribution.Batch{Node: "n1"}
				with := append([]byte(`{"later":{"a":[1,{"b":"}"}],"c":null},`), line[1:]...)
				if err := decode(with, &b); err != nil || len(b.Audits)+len(b.Events)+len(b.Records) == 0 {
					t.Errorf("%s: %v", format, err)
				}
			}
		}
	})
	t.Run("ATT-8 a line that was cut anywhere is malformed, in every format", func(t *testing.T) {
		for format, decode := range decoders {
			line := samples(t, format)[0]
			for cut := range len(line) - 1 {
				var b attribution.Batch
				if err := decode(line[:cut+1], &b); !errors.Is(err, attribution.ErrMalformed) {
					t.Fatalf("%s cut at %d: %v", format, cut, err)
				}
				if len(b.Audits)+len(b.Events)+len(b.Records) > 0 {
					t.Fatalf("%s cut at %d: kept something", format, cut)
				}
			}
		}
	})
}

// fuzz holds that a decoder neither panics nor keeps anything of a line it refuses, and takes no line that is not JSON
// with balanced brackets for one.
func fuzz(f *testing.F, format string) {
	for _, line := range samples(f, format) {
		f.Add(line)
		f.Add(bytes.ReplaceAll(line, []byte(":"), []byte(" :\t")))
	}
	for _, seed := range []string{"", "{}", "[]", "null", `{"a":`, `{"a":"\`, `{"objectRef":"exec"}`, `{"kind":"EventList","items":[{"auditID":1}]}`, "{\"a\":\xff}"} {
		f.Add([]byte(seed))
	}
	decode := decoders[format]
	f.Fuzz(func(t *testing.T, line []byte) {
		b := attribution.Batch{Node: "n"}
		err := decode(line, &b)
		kept := len(b.Audits) + len(b.Events) + len(b.Records)
		if err != nil && (kept > 0 || !errors.Is(err, attribution.ErrMalformed)) {
			t.Fatalf("%v, kept %d", err, kept)
		}
		if err == nil && bytes.IndexByte(line, '{') < 0 {
			t.Fatalf("took %q", line)
		}
		for i := range b.Events {
			if b.Events[i].Time.IsZero() {
				t.Fatal("an event without a time")
			}
		}
	})
}

func FuzzAuditlog(f *testing.F)   { fuzz(f, "audit") }
func FuzzTetragon(f *testing.F)   { fuzz(f, "tetragon") }
func FuzzFalco(f *testing.F)      { fuzz(f, "falco") }
func FuzzTracee(f *testing.F)     { fuzz(f, "tracee") }
func FuzzSPO(f *testing.F)        { fuzz(f, "spo") }
func FuzzJournal(f *testing.F)    { fuzz(f, "journal") }
func FuzzProcevents(f *testing.F) { fuzz(f, "procevents") }
