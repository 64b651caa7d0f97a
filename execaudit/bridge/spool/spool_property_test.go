package spool_test

import (
	"encoding/json"
	"reflect"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/lanyard-dev/lanyard/execaudit/bridge"
	"github.com/lanyard-dev/lanyard/execaudit/bridge/spool"
)

func drawWhere(t *rapid.T) spool.Where {
	text := rapid.String()
	return spool.Where{
		Node: text.Draw(t, "node"), PodUID: text.Draw(t, "pod UID"), Namespace: text.Draw(t, "namespace"), Pod: text.Draw(t, "pod"),
		Container: text.Draw(t, "container"), ContainerID: text.Draw(t, "container ID"), ExecID: text.Draw(t, "exec ID"), PIDFile: text.Draw(t, "PID file"),
	}
}

func drawTime(t *rapid.T) time.Time {
	return time.Unix(rapid.Int64Range(0, 1<<36).Draw(t, "seconds"), rapid.Int64Range(0, 1e9-1).Draw(t, "nanoseconds")).UTC()
}

func drawRecord(t *rapid.T) spool.Record {
	array := func(label string) [16]byte { return [16]byte(rapid.SliceOfN(rapid.Byte(), 16, 16).Draw(t, label)) }
	return spool.Record{
		Session: bridge.SessionID(array("session")), Nonce: array("nonce"), Requester: array("requester"), Expiry: drawTime(t), Time: drawTime(t), Where: drawWhere(t),
		Key: rapid.String().Draw(t, "key"), AuditID: rapid.String().Draw(t, "audit ID"), BootID: rapid.String().Draw(t, "boot ID"), Mark: rapid.String().Draw(t, "mark"),
		SessionID: rapid.Uint32().Draw(t, "session ID"), LoginUID: rapid.Uint32().Draw(t, "login UID"), TTY: rapid.Bool().Draw(t, "TTY"),
		ArgvTruncated: rapid.Bool().Draw(t, "truncated"), Argv: rapid.SliceOfN(rapid.String(), 1, 20).Draw(t, "argv"),
	}
}

func TestRecordLaws(t *testing.T) {
	t.Run("BRG-2 a record that is written is read, and any part of it is incomplete", func(t *testing.T) {
		rapid.Check(t, func(t *rapid.T) {
			r := drawRecord(t)
			if r.Session == (bridge.SessionID{}) {
				return
			}
			text := r.Encode()
			if got, err := spool.ParseRecord(text); err != nil || !reflect.DeepEqual(got, r) {
				t.Fatalf("ParseRecord(%s) = %+v, %v, want %+v", text, got, err, r)
			}
			if !json.Valid(text) || len(text) > spool.MaxFileBytes {
				t.Errorf("%d bytes: %s", len(text), text)
			}
			if part := text[:rapid.IntRange(0, len(text)-1).Draw(t, "part")]; true {
				if got, err := spool.ParseRecord(part); err == nil {
					t.Errorf("ParseRecord(%s) = %+v", part, got)
				}
			}
		})
	})
	t.Run("BRG-6 the longest texts fit into what is read of a file", func(t *testing.T) {
		rapid.Check(t, func(t *rapid.T) {
			long := rapid.SliceOfN(rapid.SampledFrom([]string{"\x00", "\xff", "\"", "x", ""}), 1, 1).Draw(t, "element")[0]
			r := record(1)
			r.Argv = nil
			for range 1 << 15 {
				r.Argv = append(r.Argv, long)
			}
			if n := len(r.Encode()); n > spool.MaxFileBytes {
				t.Errorf("%d bytes", n)
			}
		})
	})
}
