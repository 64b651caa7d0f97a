package journal_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/lanyard-dev/lanyard/execaudit/journal"
)

// anyBytes draws texts of which some are UTF-8 and some are not.
func anyBytes(least int) *rapid.Generator[string] {
	return rapid.OneOf(
		rapid.StringN(least, 12, 64),
		rapid.Map(rapid.SliceOfN(rapid.Byte(), least, 12), func(b []byte) string { return string(b) }),
		rapid.SampledFrom([]string{"\xff", "a\xc3", "\xed\xa0\x80", "\ufffd\xff", "\xf0\x9f\x98", "é\xe9", `","bytes":{"argv":["/w=="]}`}),
	)
}

func anyBytesRecord() *rapid.Generator[journal.Record] {
	return rapid.Custom(func(t *rapid.T) journal.Record {
		text := func(label string, least int) string { return anyBytes(least).Draw(t, label) }
		code := rapid.IntRange(0, 255).Draw(t, "code")
		r := journal.Record{
			Version: journal.Version, Kind: journal.KindEnd, Time: at.Add(time.Duration(rapid.Int64Range(0, 1<<60).Draw(t, "time"))),
			Session: journal.Session{
				Node: text("node", 1), ContainerID: text("container ID", 1), ExecID: text("exec ID", 1), AuditID: text("audit ID", 0), ExecSession: text("exec session", 0),
				SandboxID: text("sandbox ID", 0), Namespace: text("namespace", 0), Pod: text("pod", 0), PodUID: text("pod UID", 0), Container: text("container", 0),
			},
			Process:  journal.Process{PID: 1, StartTicks: 2, BootID: text("boot ID", 0)},
			ExitCode: &code, Reason: text("reason", 0),
		}
		if argv := rapid.SliceOf(anyBytes(0)).Draw(t, "argv"); len(argv) > 0 {
			r.Argv = argv
		}
		return r
	})
}

func TestAnyBytes(t *testing.T) {
	t.Run("EXA-39 any bytes in any text come back as written", func(t *testing.T) {
		rapid.Check(t, func(rt *rapid.T) {
			records := rapid.SliceOfN(anyBytesRecord(), 1, 4).Draw(rt, "records")
			d := newDisk()
			w := journal.NewWriter(d)
			for _, r := range records {
				if err := w.Append(r); err != nil {
					rt.Fatal(err)
				}
			}
			got, faults := readAll(t, d.written.Bytes())
			if faults != nil || !reflect.DeepEqual(got, records) {
				rt.Fatalf("read %+v, %v, want %+v of\n%s", got, faults, records, d.written.Bytes())
			}
		})
	})
	t.Run("EXA-39 a reader that does not know the bytes reads each as U+FFFD, and UTF-8 as it is", func(t *testing.T) {
		d := newDisk()
		mustAppend(t, journal.NewWriter(d), journal.Intent(session, []string{"caf\xe9", "café"}, false, at))
		var old struct {
			Argv    []string `json:"argv"`
			AuditID string   `json:"auditID"`
		}
		if err := json.Unmarshal(d.written.Bytes(), &old); err != nil || !reflect.DeepEqual(old.Argv, []string{"caf\ufffd", "café"}) || old.AuditID != session.AuditID {
			t.Errorf("read %+v, %v", old, err)
		}
	})
	t.Run("EXA-39 a record of UTF-8 alone has no such member", func(t *testing.T) {
		d := newDisk()
		mustAppend(t, journal.NewWriter(d), journal.Intent(session, []string{"\ufffd", `"bytes"`}, false, at))
		if bytes.Contains(d.written.Bytes(), []byte(`,"bytes"`)) {
			t.Errorf("wrote %s", d.written.Bytes())
		}
	})
	t.Run("EXA-39 bytes that do not fit the text make the line no record: two readers would see two commands", func(t *testing.T) {
		const line = `{"version":1,"kind":"intent","time":"2026-11-21T04:10:00Z","node":"n","containerID":"c","execID":"e","argv":["rm\ufffd","x"],"bytes":%s}`
		b64 := func(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) }
		for member, good := range map[string]bool{
			`{"argv":["` + b64("rm\xff") + `",null]}`:                              true,
			` { "argv" : [ "` + b64("rm\xff") + `" , null ] , "later" : [ {} ] } `: true,
			"null": true, "{}": true, `{"later":7}`: true,
			`{"argv":["` + b64("id\xff") + `",null]}`:                    false, // another text
			`{"argv":["` + b64("rm\ufffd") + `",null]}`:                  false, // UTF-8
			`{"argv":["` + b64("rm\xff") + `"]}`:                         false, // a word too few
			`{"argv":["` + b64("rm\xff") + `",null,null]}`:               false, // too many
			`{"argv":["` + b64("rm\xff") + `",null],"argv":[null,null]}`: false, // twice
			`{"argv":null}`: false, `{"argv":["cm3/",7]}`: false, `{"argv":["cm3",null]}`: false, `{"argv":["cm\u0033/",null]}`: false,
			`{"node":"/w=="}`: false, `{"reason":"/w=="}`: false, `[]`: false, `"cm3/"`: false,
		} {
			text := fmt.Sprintf(line, member)
			records, faults := readAll(t, []byte(text))
			if good != (len(records) == 1) || !good && !errors.Is(faults[0], journal.ErrNotJSON) {
				t.Errorf("read %v, %v from %s", records, faults, text)
			}
		}
	})
	t.Run("EXA-39 an intent at its bounds fits whatever its bytes are", func(t *testing.T) {
		odd := session
		odd.AuditID = strings.Repeat("\xff", journal.MaxTextBytes)
		odd.ExecSession = odd.AuditID
		argv := make([]string, journal.MaxArgs)
		for i := range argv {
			argv[i] = strings.Repeat("\xff", journal.MaxArgvBytes/journal.MaxArgs)
		}
		r := journal.Intent(odd, argv, false, at)
		d := newDisk()
		mustAppend(t, journal.NewWriter(d), r)
		if records, faults := readAll(t, d.written.Bytes()); faults != nil || !reflect.DeepEqual(records, []journal.Record{r}) {
			t.Errorf("read %d, %v", len(records), faults)
		}
	})
}
