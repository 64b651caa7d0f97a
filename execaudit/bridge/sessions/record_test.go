package sessions_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
	"testing"
	"testing/iotest"
	"time"
	"unicode/utf8"

	"github.com/lanyard-dev/lanyard/execaudit/bridge"
	"github.com/lanyard-dev/lanyard/execaudit/bridge/sessions"
	"github.com/lanyard-dev/lanyard/execaudit/bridge/token"
)

var at = time.Date(2026, 11, 22, 10, 0, 0, 123456789, time.UTC)

var id = bridge.SessionID{0x5f, 0xf1, 0xc7, 0xb9, 0, 0, 0x40, 0, 0x80, 1}

func record() sessions.Record {
	return sessions.Record{
		Session: id, RequestUID: "d3a0", Time: at,
		User: token.User{
			Name: "alice", UID: "u-1", Groups: []string{"dev", "system:authenticated"},
			Extra: map[string][]string{"example.com/ticket": {"T<1>"}},
		},
		Namespace: "shop", Pod: "cart-0", PodUID: "0b2b", Container: "app", Node: "n1",
		Command: []string{"sh", "-c", "id"}, TTY: true, Source: sessions.SourceExec,
		Outcome: bridge.OutcomeMarked, Expiry: at.Truncate(time.Second).Add(time.Minute),
	}
}

func encode(t testing.TB, r sessions.Record) []byte {
	t.Helper()
	line, err := sessions.Encode(r)
	if err != nil {
		t.Fatal(err)
	}
	return line
}

const recordLine = `{"version":1,"session":"5ff1c7b9-0000-4000-8001-000000000000","requestUID":"d3a0","time":"2026-11-22T10:00:00.123456789Z",` +
	`"user":{"name":"alice","uid":"u-1","groups":["dev","system:authenticated"],"extra":{"example.com/ticket":["T<1>"]}},` +
	`"namespace":"shop","pod":"cart-0","podUID":"0b2b","container":"app","node":"n1","command":["sh","-c","id"],"tty":true,` +
	`"source":"exec","outcome":"marked","expiry":"2026-11-22T10:01:00Z"}` + "\n"

func TestEncode(t *testing.T) {
	t.Run("BRG-12 a record is one line of JSON", func(t *testing.T) {
		if got := string(encode(t, record())); got != recordLine {
			t.Fatalf("Encode(…) = %s, want %s", got, recordLine)
		}
	})
	t.Run("BRG-12 a command with line ends stays one line", func(t *testing.T) {
		r := record()
		r.Command = []string{"sh", "-c", "a\nb\r\u2028\x00"}
		line := encode(t, r)
		if bytes.Count(line, []byte("\n")) != 1 || !bytes.HasSuffix(line, []byte("\n")) {
			t.Fatalf("%q", line)
		}
		if got, err := sessions.Decode(line); err != nil || got.Command[2] != r.Command[2] {
			t.Fatalf("Decode(Encode(…)) = %q, %v", got.Command, err)
		}
	})
	for _, c := range []struct {
		name    string
		command []string
		texts   int
		bytes   int
		cut     bool
	}{
		{"BRG-12 a command of 200 elements is kept", strings.Split(strings.Repeat("a ", 199)+"a", " "), 200, 200, false},
		{"BRG-12 a command within the bounds is kept", []string{strings.Repeat("a", 64<<10)}, 1, 64 << 10, false},
		{"BRG-12 a command that is too long is cut and marked", []string{"sh", strings.Repeat("a", 64<<10)}, 2, 64 << 10, true},
		{"BRG-12 a command of too many elements is cut and marked", make([]string, 5000), 4096, 0, true},
		{"BRG-12 a command is cut between characters", []string{strings.Repeat("a", 64<<10-1) + "é"}, 1, 64<<10 - 1, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := record()
			r.Command = c.command
			got, err := sessions.Decode(encode(t, r))
			if err != nil {
				t.Fatal(err)
			}
			if n := len(strings.Join(got.Command, "")); len(got.Command) != c.texts || n != c.bytes || got.CommandCut != c.cut || got.UserCut {
				t.Fatalf("%d elements, %d bytes, cut %v", len(got.Command), n, got.CommandCut)
			}
		})
	}
	t.Run("BRG-12 a user of any size fits into a line", func(t *testing.T) {
		r := record()
		worst := strings.Repeat("\x01", 100<<10)
		r.User = token.User{Name: worst, UID: worst, Groups: []string{"g", worst, worst}, Extra: map[string][]string{"a": {worst}, "b": {"v"}}}
		r.Command, r.Reason, r.Pod = []string{worst}, worst, worst
		line := encode(t, r)
		got, err := sessions.Decode(line)
		if err != nil || len(line) > sessions.MaxLineBytes {
			t.Fatalf("%d bytes, %v", len(line), err)
		}
		if !got.UserCut || len(got.User.Name) != sessions.MaxTextBytes || len(got.User.Groups) != 2 || len(got.User.Extra) != 1 {
			t.Errorf("cut %v, %d bytes, %d groups, %d extra", got.UserCut, len(got.User.Name), len(got.User.Groups), len(got.User.Extra))
		}
	})
	t.Run("BRG-12 bytes that are not UTF-8 become U+FFFD", func(t *testing.T) {
		r := record()
		r.Command = []string{"a\xffb"}
		line := encode(t, r)
		if got, err := sessions.Decode(line); err != nil || got.Command[0] != "a\ufffdb" || !utf8.Valid(line) {
			t.Fatalf("%q, %v", got.Command, err)
		}
	})
	t.Run("BRG-12 a record is not changed by its encoding", func(t *testing.T) {
		r := record()
		r.Command = []string{strings.Repeat("a", 100<<10)}
		before := fmt.Sprintf("%#v", r)
		encode(t, r)
		if fmt.Sprintf("%#v", r) != before {
			t.Fatal("changed")
		}
	})
	for _, c := range []struct {
		change func(*sessions.Record)
		says   string
	}{
		{func(r *sessions.Record) { r.Session = bridge.SessionID{} }, "not a session record: session is missing"},
		{func(r *sessions.Record) { r.Time = time.Time{} }, "not a session record: time is missing"},
		{func(r *sessions.Record) { r.Source = "" }, "not a session record: source is missing"},
		{func(r *sessions.Record) { r.Outcome = "" }, "not a session record: outcome is missing"},
		{func(r *sessions.Record) { r.Time = at.AddDate(9000, 0, 0) }, "not a session record: time is outside of the years 0 to 9999"},
		{func(r *sessions.Record) { r.Expiry = at.AddDate(9000, 0, 0) }, "not a session record: expiry is outside of the years 0 to 9999"},
	} {
		t.Run("BRG-12 "+c.says, func(t *testing.T) {
			r := record()
			c.change(&r)
			if line, err := sessions.Encode(r); line != nil || !errors.Is(err, sessions.ErrRecord) || err.Error() != c.says {
				t.Fatalf("Encode(…) = %s, %v", line, err)
			}
		})
	}
}

func TestDecode(t *testing.T) {
	change := func(old, new string) string { return strings.Replace(recordLine, old, new, 1) }
	for _, c := range []struct {
		name, line string
		want       error
		says       string
	}{
		{name: "BRG-12 what was written", line: recordLine},
		{name: "BRG-12 fields that are not known are passed over", line: change(`"tty":true`, `"tty":true,"later":{"a":[1]},"TTY":false`)},
		{name: "BRG-12 a field that is null is none", line: change(`"requestUID":"d3a0"`, `"requestUID":"d3a0","commandCut":null`)},
		{name: "BRG-12 an empty object", line: `{}`, want: sessions.ErrVersion, says: "unknown version of a session record: version is not 1"},
		{name: "BRG-12 another version", line: change(`"version":1`, `"version":2`), want: sessions.ErrVersion},
		{name: "BRG-12 an array", line: `[]`, want: sessions.ErrRecord, says: "not a session record: is not a JSON object"},
		{name: "BRG-12 half a line", line: recordLine[:200], want: sessions.ErrRecord},
		{name: "BRG-12 two lines in one", line: recordLine + recordLine, want: sessions.ErrRecord},
		{name: "BRG-12 a duplicate field", line: change(`"tty":true`, `"tty":true,"tty":false`), want: sessions.ErrRecord, says: "not a session record: has a duplicate key"},
		{name: "BRG-12 a duplicate field of the user", line: change(`"uid":"u-1"`, `"name":"root"`), want: sessions.ErrRecord, says: "not a session record: user is of another type"},
		{name: "BRG-12 a field of another type", line: change(`"tty":true`, `"tty":"hunter2"`), want: sessions.ErrRecord, says: "not a session record: tty is of another type"},
		{name: "BRG-12 a session ID in upper case", line: change("5ff1c7b9", "5FF1C7B9"), want: sessions.ErrRecord, says: "not a session record: session is not a session ID"},
		{name: "BRG-12 a session of zeros", line: change("5ff1c7b9-0000-4000-8001", "00000000-0000-0000-0000"), want: sessions.ErrRecord, says: "not a session record: session is missing"},
		{name: "BRG-12 no time", line: change(`"time"`, `"when"`), want: sessions.ErrRecord, says: "not a session record: time is missing"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := sessions.Decode([]byte(c.line))
			if !errors.Is(err, c.want) || (c.says != "" && err.Error() != c.says) {
				t.Fatalf("Decode(…) = %v, want %v %s", err, c.want, c.says)
			}
			want := sessions.Record{}
			if c.want == nil {
				want = record()
			}
			if !reflect.DeepEqual(got, want) {
				t.Fatalf("Decode(…) = %+v, want %+v", got, want)
			}
		})
	}
}

func collect[T any](seq func(func(T, error) bool)) (all []T, faults []error) {
	for value, err := range seq {
		if err != nil {
			faults = append(faults, err)
			continue
		}
		all = append(all, value)
	}
	return all, faults
}

func TestRead(t *testing.T) {
	long := strings.Repeat("x", sessions.MaxLineBytes+1)
	t.Run("BRG-12 a line that is not a record is told by its number, and reading goes on", func(t *testing.T) {
		text := recordLine + "hunter2\n\n  \n" + long + "\n" + recordLine + recordLine[:100]
		got, faults := collect(sessions.Read(strings.NewReader(text), "s.jsonl"))
		want := "[s.jsonl:2: not a session record: is not a JSON object s.jsonl:5: line too long: over 2097152 bytes s.jsonl:7: not a session record: is not a JSON object]"
		if len(got) != 2 || fmt.Sprint(faults) != want {
			t.Fatalf("%d records, %v", len(got), faults)
		}
		var line *sessions.LineError
		if !errors.As(faults[1], &line) || line.Line != 5 || line.Name != "s.jsonl" || !errors.Is(line, sessions.ErrLineTooLong) {
			t.Fatalf("%#v", faults[1])
		}
	})
	t.Run("BRG-12 a file that cannot be read ends with its error", func(t *testing.T) {
		for _, before := range []string{recordLine, recordLine + recordLine[:10], recordLine + long} {
			got, faults := collect(sessions.Read(io.MultiReader(strings.NewReader(before), iotest.ErrReader(io.ErrClosedPipe)), "s"))
			if len(got) != 1 || len(faults) == 0 || faults[len(faults)-1] != io.ErrClosedPipe {
				t.Fatalf("%d records, %v", len(got), faults)
			}
		}
	})
	t.Run("BRG-12 a last line without its end is a record", func(t *testing.T) {
		if got, faults := collect(sessions.Read(iotest.OneByteReader(strings.NewReader(strings.TrimSpace(recordLine))), "s")); len(got) != 1 || faults != nil {
			t.Fatalf("%d records, %v", len(got), faults)
		}
	})
	t.Run("BRG-12 reading can stop anywhere", func(t *testing.T) {
		for range sessions.Read(strings.NewReader("x\n"+recordLine), "s") {
			break
		}
		for range sessions.Read(strings.NewReader(long), "s") {
			break
		}
	})
}

func TestVerdictTexts(t *testing.T) {
	t.Run("BRG-12 verdicts are words in JSON", func(t *testing.T) {
		for v := sessions.VerdictForged; v <= sessions.VerdictConflicting; v++ {
			text, err := json.Marshal(v)
			var again sessions.Verdict
			if err != nil || json.Unmarshal(text, &again) != nil || again != v {
				t.Errorf("%v: %s, %v, %v", uint8(v), text, again, err)
			}
		}
		var v sessions.Verdict
		if v.UnmarshalText([]byte("x")) == nil || sessions.Verdict(99).String() != "verdict 99" || sessions.MarkVerdict(99).String() != "mark verdict 99" {
			t.Error("an unknown verdict has a name")
		}
		if text, err := sessions.MarkForged.MarshalText(); err != nil || string(text) != "forged mark" {
			t.Errorf("%s, %v", text, err)
		}
	})
}
