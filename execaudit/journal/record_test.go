package journal_test

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/lanyard-dev/lanyard/execaudit/journal"
)

func TestBuild(t *testing.T) {
	t.Run("ATT-11 a long command line is cut and marked, never refused", func(t *testing.T) {
		cases := map[string]struct {
			argv []string
			kept int // arguments
			size int // bytes
			cut  bool
		}{
			"none":                 {nil, 0, 0, false},
			"as many as allowed":   {make([]string, journal.MaxArgs), journal.MaxArgs, 0, false},
			"one more":             {make([]string, journal.MaxArgs+1), journal.MaxArgs, 0, true},
			"as long as allowed":   {[]string{"a", strings.Repeat("<", journal.MaxArgvBytes-1)}, 2, journal.MaxArgvBytes, false},
			"one byte more":        {[]string{"ab", strings.Repeat("<", journal.MaxArgvBytes-1)}, 2, journal.MaxArgvBytes, true},
			"no room for the last": {[]string{strings.Repeat("\x01", journal.MaxArgvBytes), "x"}, 2, journal.MaxArgvBytes, true},
		}
		for name, c := range cases {
			r := journal.Intent(session, c.argv, false, at)
			if size := len(strings.Join(r.Argv, "")); len(r.Argv) != c.kept || size != c.size || r.ArgvTruncated != c.cut {
				t.Errorf("%s: %d arguments of %d bytes, cut %t", name, len(r.Argv), size, r.ArgvTruncated)
			}
			if err := journal.NewWriter(newDisk()).Append(r); err != nil {
				t.Errorf("%s: Append = %v", name, err)
			}
		}
	})
	t.Run("a caller's IDs and a reason are bounded", func(t *testing.T) {
		long := session
		long.AuditID, long.ExecSession = strings.Repeat("x", 1<<20), strings.Repeat("z", 1<<20)
		for _, r := range []journal.Record{
			journal.Lost(long, process, strings.Repeat("y", 1<<20), at),
			journal.Refused(long, strings.Repeat("y", 1<<20), nil, false, at),
		} {
			if len(r.AuditID) != journal.MaxTextBytes || len(r.ExecSession) != journal.MaxTextBytes || len(r.Reason) != journal.MaxTextBytes {
				t.Errorf("%s: %d, %d and %d bytes", r.Kind, len(r.AuditID), len(r.ExecSession), len(r.Reason))
			}
		}
	})
	t.Run("the command line is a copy", func(t *testing.T) {
		argv := []string{"sh"}
		r := journal.Intent(session, argv, false, at)
		argv[0] = "changed"
		if r.Argv[0] != "sh" {
			t.Error("the record follows the caller's slice")
		}
	})
	t.Run("times are UTC", func(t *testing.T) {
		r := journal.Intent(session, nil, false, at.In(time.FixedZone("X", 3600)))
		if r.Time.Location() != time.UTC || !r.Time.Equal(at) {
			t.Errorf("Time = %v", r.Time)
		}
	})
	t.Run("EXA-39 the kernel's word for no audit session is left out", func(t *testing.T) {
		unmarked := process
		unmarked.SessionID, unmarked.LoginUID = journal.SessionIDUnset, journal.LoginUIDUnset
		for _, r := range []journal.Record{
			journal.Marked(journal.Intent(session, nil, false, at), unmarked),
			journal.Start(session, unmarked, at), journal.End(session, unmarked, 0, at), journal.Lost(session, unmarked, "lost", at),
		} {
			if err := r.Validate(); r.SessionID != 0 || r.LoginUID != 0 || err != nil {
				t.Errorf("%s: session ID %d, login UID %d, %v", r.Kind, r.SessionID, r.LoginUID, err)
			}
		}
	})
	t.Run("BRG-3 an intent carries the mark that its process will have, and no process", func(t *testing.T) {
		mark := process
		mark.LoginUID = 2013265921
		r := journal.Marked(journal.Intent(session, []string{"sh"}, true, at), mark)
		want := journal.Intent(session, []string{"sh"}, true, at)
		want.Process = journal.Process{BootID: "b1", SessionID: 77, LoginUID: 2013265921}
		if err := r.Validate(); err != nil || !reflect.DeepEqual(r, want) {
			t.Errorf("Marked = %+v, %v, want %+v", r, err, want)
		}
		if key, ok := r.ProcessKey(); ok {
			t.Errorf("ProcessKey of an intent = %+v", key)
		}
	})
	t.Run("BRG-4 a refusal has its command line and no process", func(t *testing.T) {
		argv := []string{"sh", strings.Repeat("x", journal.MaxArgvBytes)}
		r := journal.Refused(session, "token: expired", argv, true, at)
		argv[0] = "changed"
		if err := r.Validate(); err != nil || r.Kind != journal.KindRefusal || r.Reason != "token: expired" || !r.TTY || !r.ArgvTruncated || r.Argv[0] != "sh" {
			t.Errorf("Refused = %s %q %t %t %.2q, %v", r.Kind, r.Reason, r.TTY, r.ArgvTruncated, r.Argv, err)
		}
		if key, ok := r.ProcessKey(); ok {
			t.Errorf("ProcessKey of a refusal = %+v", key)
		}
	})
	t.Run("a process that never started has no key", func(t *testing.T) {
		if _, ok := journal.Lost(session, journal.Process{}, "no such file", at).ProcessKey(); ok {
			t.Error("ProcessKey of no process")
		}
	})
	t.Run("ATT-11 the records of a session share its keys", func(t *testing.T) {
		start, end := journal.Start(session, process, at), journal.End(session, process, 0, at)
		a, okA := start.ProcessKey()
		b, okB := end.ProcessKey()
		if !okA || !okB || a != b || a != (journal.ProcessKey{Node: "n1", PID: 4711, StartTicks: 123456, BootID: "b1"}) {
			t.Errorf("ProcessKey = %v, %v", a, b)
		}
		if got := start.SessionKey(); got != end.SessionKey() || got != (journal.SessionKey{Node: "n1", ContainerID: "c1", ExecID: "e1"}) {
			t.Errorf("SessionKey = %v", got)
		}
	})
}

func TestValidate(t *testing.T) {
	start := journal.Start(session, process, at)
	cases := map[string]func(*journal.Record){
		"version is 2, must be 1":                                      func(r *journal.Record) { r.Version = 2 },
		"kind is not one of intent, start, end, refusal":               func(r *journal.Record) { r.Kind = "paused" },
		"reason is missing from a refusal":                             func(r *journal.Record) { r.Kind = journal.KindRefusal },
		"time is missing":                                              func(r *journal.Record) { r.Time = time.Time{} },
		"node is missing":                                              func(r *journal.Record) { r.Node = "" },
		"containerID is missing":                                       func(r *journal.Record) { r.ContainerID = "" },
		"execID is missing":                                            func(r *journal.Record) { r.ExecID = "" },
		"pid is negative":                                              func(r *journal.Record) { r.PID = -1 },
		"startTicks is missing from a start":                           func(r *journal.Record) { r.StartTicks = 0 },
		"pid is missing from a start":                                  func(r *journal.Record) { r.PID = 0 },
		"exitCode and reason are missing from an end, which needs one": func(r *journal.Record) { r.Kind = journal.KindEnd },
		"sessionID is 4294967295, the kernel's word for none, which is left out": func(r *journal.Record) { r.SessionID = journal.SessionIDUnset },
		"loginUID is 4294967295, the kernel's word for none, which is left out":  func(r *journal.Record) { r.LoginUID = journal.LoginUIDUnset },
	}
	for want, spoil := range cases {
		t.Run(want, func(t *testing.T) {
			r := start
			spoil(&r)
			err := r.Validate()
			var fault *journal.Fault
			if !errors.Is(err, journal.ErrInvalidRecord) || !errors.As(err, &fault) || err.Error() != "invalid journal record: "+want {
				t.Fatalf("Validate = %v, want %s", err, want)
			}
			if field, _, _ := strings.Cut(want, " "); fault.Field != field {
				t.Errorf("Field = %s, want %s", fault.Field, field)
			}
		})
	}
	if err := start.Validate(); err != nil {
		t.Errorf("Validate = %v, want nil", err)
	}
}

func TestReader(t *testing.T) {
	const good = `{"version":1,"kind":"end","time":"2026-11-21T04:10:00Z","node":"n","containerID":"c","execID":"e","exitCode":0,"later":{"field":[1]}}`
	t.Run("malformed lines are reported with name and line, and skipped", func(t *testing.T) {
		journalText := strings.Join([]string{
			good, "", "hunter2", `{"version":1,"kind":"hunter2"`, `{"version":2,"hunter2":1}`, `["hunter2"]`, "null",
			`{"version":1,"pid":"hunter2"}`, good + good, "\xff\xfe", good,
		}, "\n")
		records, faults := readAll(t, []byte(journalText))
		if len(records) != 2 || !reflect.DeepEqual(records[0], records[1]) {
			t.Errorf("read %v", records)
		}
		want := []string{
			"journal:3: not a journal record in JSON",
			"journal:4: not a journal record in JSON",
			"journal:5: invalid journal record: version is 2, must be 1",
			"journal:6: not a journal record in JSON",
			"journal:7: invalid journal record: version is 0, must be 1",
			"journal:8: not a journal record in JSON",
			"journal:9: not a journal record in JSON",
			"journal:10: not a journal record in JSON",
		}
		if got := fmt.Sprint(faults); got != fmt.Sprint(want) {
			t.Errorf("faults %s, want %s", got, want)
		}
	})
	t.Run("EXA-39 keys match exactly", func(t *testing.T) {
		for _, line := range []string{
			strings.Replace(good, `"version"`, `"VERSION"`, 1),
			strings.Replace(good, `"execID"`, `"execid"`, 1),
			strings.Replace(good, `"kind"`, `"\u212aind"`, 1), // a Kelvin sign, which folds to k
			strings.Replace(good, `"node"`, `"Node"`, 1),
			strings.Replace(good, `"exitCode"`, `"EXITCODE"`, 1),
		} {
			records, faults := readAll(t, []byte(line))
			if len(records) != 0 || len(faults) != 1 || !errors.Is(faults[0], journal.ErrInvalidRecord) {
				t.Errorf("read %v, %v from %s", records, faults, line)
			}
		}
		want, _ := readAll(t, []byte(good))
		for _, other := range []string{`"EXECID":"x"`, `"ExitCode":7`, `"PID":1`, `"Argv":["x"]`, `"TIME":"x"`, `"Session":{"node":"x"}`, `"AUDITID":{}`, `"later":1`} {
			line := strings.TrimSuffix(good, "}") + "," + other + "}"
			if records, faults := readAll(t, []byte(line)); faults != nil || !reflect.DeepEqual(records, want) {
				t.Errorf("read %+v, %v from %s, want %+v", records, faults, line, want)
			}
		}
	})
	t.Run("EXA-39 a key that comes twice makes the line no record, since readers disagree on which counts", func(t *testing.T) {
		for _, twice := range []string{`"execID":"x"`, `"auditID":"x","auditID":"y"`, `"\u0065xecID":"e"`} {
			line := strings.TrimSuffix(good, "}") + "," + twice + "}"
			if records, faults := readAll(t, []byte(line)); len(records) != 0 || len(faults) != 1 || !errors.Is(faults[0], journal.ErrNotJSON) {
				t.Errorf("read %v, %v from %s", records, faults, line)
			}
		}
	})
	t.Run("EXA-39 every field that is written is read", func(t *testing.T) {
		code := 3
		full := journal.Record{
			Version: journal.Version, Kind: journal.KindEnd, Time: at, Session: session, Process: process, Argv: []string{"a", ""},
			ArgvTruncated: true, TTY: true, ExitCode: &code, Reason: "why",
		}
		full.ExecSession, full.LoginUID = "0e984725-c51c-4bf4-9960-e1c80e27aba0", 2013265921
		for _, v := range []reflect.Value{reflect.ValueOf(full), reflect.ValueOf(full.Session), reflect.ValueOf(full.Process)} {
			for i := range v.NumField() {
				if v.Field(i).IsZero() {
					t.Fatalf("field %s of the test's record is not set", v.Type().Field(i).Name)
				}
			}
		}
		d := newDisk()
		mustAppend(t, journal.NewWriter(d), full)
		if records, faults := readAll(t, d.written.Bytes()); faults != nil || len(records) != 1 || !reflect.DeepEqual(records[0], full) {
			t.Errorf("read %+v, %v, want %+v", records, faults, full)
		}
	})
	t.Run("a line without end", func(t *testing.T) {
		long := `{"version":1,"x":"` + strings.Repeat("x", 3*journal.MaxLineBytes)
		records, faults := readAll(t, []byte(good+"\n"+long+"\n"+good+"\n"+long))
		if len(records) != 2 || len(faults) != 2 || !errors.Is(faults[0], journal.ErrLineTooLong) || !errors.Is(faults[1], journal.ErrLineTooLong) {
			t.Errorf("read %d, faults %v", len(records), faults)
		}
	})
	t.Run("the bound is exact", func(t *testing.T) {
		pad := func(size int) string {
			head := strings.TrimSuffix(good, "}") + `,"pad":"`
			return head + strings.Repeat("x", size-len(head)-2) + `"}`
		}
		records, faults := readAll(t, []byte(pad(journal.MaxLineBytes)+"\n"+pad(journal.MaxLineBytes+1)+"\n"))
		if len(records) != 1 || len(faults) != 1 || !errors.Is(faults[0], journal.ErrLineTooLong) {
			t.Errorf("read %d, faults %v", len(records), faults)
		}
	})
	t.Run("an error of the source is returned as it is", func(t *testing.T) {
		broken := errors.New("broken")
		r := journal.NewReader(&failing{data: good + "\n" + good[:9], err: broken}, "journal")
		n := 0
		for _, err := range r.Records() {
			if n++; n == 1 && err != nil || n == 2 && err != broken || n > 2 {
				t.Errorf("pair %d has the error %v", n, err)
			}
		}
		if n != 2 {
			t.Errorf("%d pairs, want a record and the source's error", n)
		}
	})
	t.Run("an iteration that was left goes on with the next", func(t *testing.T) {
		second := strings.Replace(good, `"exitCode":0`, `"exitCode":1`, 1)
		r := journal.NewReader(strings.NewReader(good+"\nx\n"+second), "journal")
		for record, err := range r.Records() {
			if err != nil || *record.ExitCode != 0 {
				t.Errorf("read %v, %v first", record, err)
			}
			break
		}
		var faults []string
		var codes []int
		for record, err := range r.Records() {
			if err != nil {
				faults = append(faults, err.Error())
				continue
			}
			codes = append(codes, *record.ExitCode)
		}
		if want := []string{"journal:2: not a journal record in JSON"}; !reflect.DeepEqual(faults, want) || !reflect.DeepEqual(codes, []int{1}) {
			t.Errorf("then faults %v and codes %v", faults, codes)
		}
	})
}

// failing is a reader that ends in an error.
type failing struct {
	data string
	err  error
}

func (f *failing) Read(b []byte) (int, error) {
	if f.data == "" {
		return 0, f.err
	}
	n := copy(b, f.data)
	f.data = f.data[n:]
	return n, nil
}
