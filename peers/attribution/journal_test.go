package attribution_test

import (
	"bytes"
	"encoding/json"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/lanyard-dev/lanyard/execaudit/attribution"
	reader "github.com/lanyard-dev/lanyard/execaudit/attribution/journal"
	writer "github.com/lanyard-dev/lanyard/execaudit/journal"
)

func anyRecord() *rapid.Generator[writer.Record] {
	return rapid.Custom(func(t *rapid.T) writer.Record {
		text := func(label string) string { return rapid.StringN(1, 9, 64).Draw(t, label) }
		s := writer.Session{Node: text("node"), ContainerID: text("container"), ExecID: text("exec"), AuditID: rapid.String().Draw(t, "audit"), ExecSession: rapid.String().Draw(t, "bridge"), Pod: text("pod")}
		p := writer.Process{PID: rapid.IntRange(1, 1<<22).Draw(t, "pid"), StartTicks: rapid.Uint64Range(1, 1<<60).Draw(t, "ticks"), BootID: text("boot"), SessionID: rapid.Uint32Max(writer.SessionIDUnset-1).Draw(t, "session"), LoginUID: rapid.Uint32Max(writer.LoginUIDUnset-1).Draw(t, "login")}
		at := time.Unix(0, rapid.Int64Range(0, 1<<62).Draw(t, "time")).UTC()
		switch rapid.IntRange(0, 3).Draw(t, "kind") {
		case 0:
			return writer.Intent(s, rapid.SliceOfN(rapid.String(), 1, 4).Draw(t, "argv"), true, at)
		case 1:
			return writer.Start(s, p, at)
		case 2:
			return writer.End(s, p, rapid.IntRange(0, 255).Draw(t, "code"), at)
		}
		if rapid.Bool().Draw(t, "marked") {
			return writer.Marked(writer.Intent(s, []string{"sh"}, true, at), p)
		}
		return writer.Lost(s, writer.Process{}, text("reason"), at)
	})
}

var phases = map[writer.Kind]attribution.Phase{
	writer.KindIntent: attribution.PhaseIntent, writer.KindStart: attribution.PhaseStart, writer.KindEnd: attribution.PhaseEnd,
}

func TestJournalFormat(t *testing.T) {
	t.Run("ATT-3 what a runtime writes into its journal is read as it was meant", func(t *testing.T) {
		rapid.Check(t, func(t *rapid.T) {
			want := anyRecord().Draw(t, "record")
			line, err := json.Marshal(want)
			if err != nil {
				t.Fatal(err)
			}
			var b attribution.Batch
			if err := reader.Decode(bytes.TrimSpace(line), &b); err != nil {
				t.Fatalf("%v: %s", err, line)
			}
			got := b.Records[0]
			if got.Phase != phases[want.Kind] || !got.Time.Equal(want.Time) || got.Node != want.Node || got.ContainerID != want.ContainerID || got.ExecID != want.ExecID ||
				got.AuditID != want.AuditID || got.ExecSession != want.ExecSession || got.Pod != want.Pod || got.Process.PID != want.PID || got.Process.StartTicks != want.StartTicks ||
				got.Process.BootID != want.BootID || got.SessionID != want.SessionID || got.LoginUID != want.LoginUID ||
				got.Lost != (want.Kind == writer.KindEnd && want.ExitCode == nil) || !slices.Equal(got.Command, want.Argv) {
				t.Fatalf("read %+v of %s", got, line)
			}
		})
	})
	t.Run("ATT-8 a record that the writer would refuse is refused", func(t *testing.T) {
		good := writer.Start(writer.Session{Node: "n", ContainerID: "c", ExecID: "e"}, writer.Process{PID: 1, StartTicks: 2}, time.Unix(1, 0))
		for name, spoil := range map[string]func(*writer.Record){
			"nothing": func(*writer.Record) {}, "version": func(r *writer.Record) { r.Version = 2 }, "kind": func(r *writer.Record) { r.Kind = "x" },
			"time": func(r *writer.Record) { r.Time = time.Time{} }, "node": func(r *writer.Record) { r.Node = "" }, "container": func(r *writer.Record) { r.ContainerID = "" },
			"exec": func(r *writer.Record) { r.ExecID = "" }, "pid": func(r *writer.Record) { r.PID = -1 }, "ticks": func(r *writer.Record) { r.StartTicks = 0 },
			"end": func(r *writer.Record) { r.Kind = writer.KindEnd }, "login UID": func(r *writer.Record) { r.LoginUID = writer.LoginUIDUnset }, "session": func(r *writer.Record) { r.SessionID = writer.SessionIDUnset },
		} {
			r := good
			spoil(&r)
			line, err := json.Marshal(r)
			if err != nil {
				t.Fatal(err)
			}
			var b attribution.Batch
			err = reader.Decode(line, &b)
			if got, want := len(b.Records) > 0, r.Validate() == nil; got != want || got && err != nil {
				t.Errorf("%s: read %t, %v, valid %t", name, got, err, want)
			}
			if other := b.Ignored.OtherKinds == 1; other != (name == "kind") || !other && (err == nil) != (r.Validate() == nil) {
				t.Errorf("%s: ignored as another kind %t, %v", name, other, err)
			}
		}
	})
}
