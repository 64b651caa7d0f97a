package journal_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/lanyard-dev/lanyard/execaudit/journal"
)

func anyRecord() *rapid.Generator[journal.Record] {
	return rapid.Custom(func(t *rapid.T) journal.Record {
		text := func(label string) string { return rapid.StringN(1, 9, 64).Draw(t, label) }
		s := journal.Session{Node: text("node"), ContainerID: text("container"), ExecID: text("exec"), AuditID: rapid.String().Draw(t, "audit"), ExecSession: rapid.String().Draw(t, "exec session")}
		p := journal.Process{
			PID: rapid.IntRange(1, 1<<22).Draw(t, "pid"), StartTicks: rapid.Uint64Min(1).Draw(t, "ticks"), BootID: text("boot"),
			SessionID: rapid.Uint32Max(journal.SessionIDUnset-1).Draw(t, "session"), LoginUID: rapid.Uint32Max(journal.LoginUIDUnset-1).Draw(t, "login"),
		}
		argv := rapid.SliceOf(rapid.String())
		when := at.Add(time.Duration(rapid.Int64Range(0, 1<<60).Draw(t, "time")))
		switch rapid.IntRange(0, 5).Draw(t, "kind") {
		case 0:
			return journal.Intent(s, argv.Draw(t, "argv"), rapid.Bool().Draw(t, "tty"), when)
		case 1:
			return journal.Start(s, p, when)
		case 2:
			return journal.End(s, p, rapid.IntRange(0, 255).Draw(t, "code"), when)
		case 3:
			return journal.Marked(journal.Intent(s, argv.Draw(t, "argv"), rapid.Bool().Draw(t, "tty"), when), p)
		case 4:
			return journal.Refused(s, text("reason"), argv.Draw(t, "argv"), rapid.Bool().Draw(t, "tty"), when)
		}
		return journal.Lost(s, journal.Process{}, text("reason"), when)
	})
}

func TestJournalLaws(t *testing.T) {
	t.Run("ATT-11 what was appended is read", func(t *testing.T) {
		rapid.Check(t, func(rt *rapid.T) {
			records := rapid.SliceOfN(anyRecord(), 1, 5).Draw(rt, "records")
			d := newDisk()
			w := journal.NewWriter(d)
			for _, r := range records {
				if err := w.Append(r); err != nil {
					rt.Fatal(err)
				}
			}
			got, faults := readAll(t, d.written.Bytes())
			if faults != nil || !sameJSON(got, records) {
				rt.Fatalf("read %+v, %v, want %+v", got, faults, records)
			}
		})
	})
	t.Run("ATT-11 cut anywhere, all whole lines are read and at most one fault reported", func(t *testing.T) {
		rapid.Check(t, func(rt *rapid.T) {
			records := rapid.SliceOfN(anyRecord(), 1, 4).Draw(rt, "records")
			d := newDisk()
			w := journal.NewWriter(d)
			for _, r := range records {
				if err := w.Append(r); err != nil {
					rt.Fatal(err)
				}
			}
			cut := d.written.Bytes()[:rapid.IntRange(0, d.written.Len()).Draw(rt, "cut")]
			got, faults := readAll(t, cut)
			whole := bytes.Count(cut, []byte("\n"))
			if len(got) < whole || len(got)+len(faults) > whole+1 || !sameJSON(got, records[:len(got)]) {
				rt.Fatalf("%d whole lines: read %d, faults %v", whole, len(got), faults)
			}
		})
	})
}

// sameJSON compares as JSON, since a nil and an empty argv are one there.
func sameJSON(a, b []journal.Record) bool {
	x, errX := json.Marshal(a)
	y, errY := json.Marshal(b)
	return errX == nil && errY == nil && (bytes.Equal(x, y) || len(a) == 0 && len(b) == 0)
}

func TestDecodeLaws(t *testing.T) {
	var d journal.Decoder
	t.Run("EXA-39 Decode takes what encoding/json takes, of members at random", func(t *testing.T) {
		rapid.Check(t, func(rt *rapid.T) {
			member := rapid.Custom(func(rt *rapid.T) string {
				value := rapid.SampledFrom(values).Draw(rt, "value")
				if len(value) > 1<<10 {
					value = "[]"
				}
				return fmt.Sprintf(`"%s":%s`, rapid.SampledFrom(keys).Draw(rt, "key"), value)
			})
			checkDecode(rt, &d, []byte("{"+strings.Join(rapid.SliceOfN(member, 0, 9).Draw(rt, "members"), ",")+"}"))
		})
	})
}
