package agent_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/lanyard-dev/lanyard/execaudit/agent"
	"github.com/lanyard-dev/lanyard/execaudit/attribution"
	"github.com/lanyard-dev/lanyard/execaudit/attribution/lines"
	"github.com/lanyard-dev/lanyard/execaudit/attribution/procevents"
	"github.com/lanyard-dev/lanyard/redact"
)

// hostile are texts as processes choose them.
func hostile() *rapid.Generator[string] {
	return rapid.OneOf(
		rapid.String(), rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) string {
			return strings.ReplaceAll(string(b),
				"\x00", "")
		}),
		rapid.SampledFrom([]string{
			"", "\n", "\x1b[2J", "\u2028", "\"}", `\`, "\xff\xfe", "\u0085", strings.Repeat("x", 5000),
			strings.Repeat("ä", 3000),
		}),
	)
}

// observations are any that a reader may give, of few processes and marks.
func observations() *rapid.Generator[*agent.Observation] {
	return rapid.Custom(func(t *rapid.T) *agent.Observation {
		kind := rapid.SampledFrom([]agent.Kind{agent.KindFork, agent.KindExec, agent.KindExit}).Draw(t, "kind")
		in := rapid.SampledFrom([]string{"", inA, inB}).Draw(t, "in")
		pid := rapid.IntRange(1, 6).Draw(t, "pid")
		o := observation(kind, uint32(rapid.IntRange(0, 3).Draw(t, "mark")), pid, in)
		o.At += time.Duration(rapid.IntRange(0, 1e9).Draw(t, "at"))
		o.Origin = rapid.SampledFrom([]agent.Origin{agent.OriginKernel, agent.OriginConnector, agent.OriginWalk}).Draw(t,
			"origin")
		o.CPU, o.Sequence = rapid.IntRange(0, 3).Draw(t, "cpu"), uint64(rapid.IntRange(0, 9).Draw(t, "sequence"))
		o.LoginUID = rapid.SampledFrom([]uint32{login, login + 1, 5}).Draw(t, "login")
		o.Again = rapid.Bool().Draw(t, "again")
		if rapid.Bool().Draw(t, "forker") {
			o.Parent = task(rapid.IntRange(1, 6).Draw(t, "parent"))
		}
		o.Status = rapid.IntRange(-1, 0xffff).Draw(t, "status")
		if kind == agent.KindExec {
			o.File = hostile().Draw(t, "file")
			o.Args = redact.NewBytes([]byte(strings.Join(rapid.SliceOfN(hostile(), 0, 4).Draw(t, "args"), "\x00")))
			env := "X=y\x00KUBERNETES_EXEC_AUDIT_ID=" + hostile().Draw(t,
				"audit ID") + "\x00LANYARD_EXEC_SESSION=" + hostile().Draw(t, "session") + "\x00"
			o.Env = redact.NewBytes([]byte(env))
			o.ArgsCut = rapid.Bool().Draw(t, "cut")
		}
		return o
	})
}

func policies() *rapid.Generator[agent.ArgsPolicy] {
	return rapid.SampledFrom([]agent.ArgsPolicy{
		{},
		{Mode: agent.ArgsKeep},
		{Mode: agent.ArgsHash},
		{Mode: agent.ArgsOmit},
	})
}

func TestLineLaws(t *testing.T) {
	t.Run("AGT-6 what procevents reads from a line is the event; a runtime's is ignored; every line is one of JSON",
		func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				k := track(agent.Options{Args: policies().Draw(t, "policy")})
				if rapid.Bool().Draw(t, "recorded") {
					k.AddRecord(intent("e\xff1", 1, inA))
				}
				for _, o := range rapid.SliceOfN(observations(), 1, 8).Draw(t, "observations") {
					k.Observe(o)
				}
				k.Flush(booted)
				for i := range k.events {
					e := &k.events[i]
					line := oneLine(t, e.AppendLine([]byte("before")), "before")
					var b attribution.Batch
					if err := procevents.Decode(line, &b); err != nil {
						t.Fatalf("%v of %s", err, line)
					}
					if e.Role == agent.RoleRuntime {
						if b.Ignored.OtherKinds != 1 || len(b.Events) != 0 {
							t.Fatalf("Decode of a runtime's = %+v", b)
						}
					} else if len(b.Events) != 1 || b.Events[0] != e.Event {
						t.Fatalf("Decode of\n%s = \n%+v, want\n%+v", line, b.Events, e.Event)
					}
				}
			})
		})
	t.Run("AGT-2 a notice is a line of JSON that procevents ignores, and that shows the format", func(t *testing.T) {
		rapid.Check(t, func(t *rapid.T) {
			n := agent.Notice{
				Kind: rapid.SampledFrom([]agent.NoticeKind{agent.NoticeStart, agent.NoticeLost, agent.NoticeForged}).Draw(t,
					"kind"),
				Node: hostile().Draw(t, "node"), Time: booted, Count: rapid.Int64().Draw(t, "count"), Reason: hostile().Draw(t,
					"reason"),
				SessionID: rapid.Uint32().Draw(t, "session"), Process: attribution.Process{
					PID:        rapid.IntRange(0, 9).Draw(t, "pid"),
					StartTicks: 5,
				},
			}
			if rapid.Bool().Draw(t, "since") {
				n.Since = booted
			}
			line := oneLine(t, n.AppendLine(nil), "")
			var b attribution.Batch
			if err := procevents.Decode(line, &b); err != nil || b.Ignored.OtherKinds != 1 || lines.Detect(line) == nil {
				t.Fatalf("%v, %+v of %s", err, b, line)
			}
		})
	})
}

// oneLine returns a line without what stood before it and its end.
func oneLine(t *rapid.T, line []byte, before string) []byte {
	line, ok := bytes.CutPrefix(line, []byte(before))
	line, ended := bytes.CutSuffix(line, []byte("\n"))
	if !ok || !ended || !json.Valid(line) || !utf8.Valid(line) {
		t.Fatalf("%q is not a line of JSON", line)
	}
	for _, r := range string(line) {
		if unicode.IsControl(r) || r == '\u2028' || r == '\u2029' {
			t.Fatalf("%q in %q", r, line)
		}
	}
	return line
}

func FuzzAppendLine(f *testing.F) {
	f.Add("id\x00-u\x00", "KUBERNETES_EXEC_AUDIT_ID=x\x00", "/bin/id", false)
	f.Add("\xff\n\x1b[2J\x00a", "LANYARD_EXEC_SESSION=\xff\x00", "\u2028", true)
	f.Fuzz(func(t *testing.T, args, env, file string, cut bool) {
		k := track(agent.Options{Args: agent.ArgsPolicy{Mode: agent.ArgsKeep}})
		k.AddRecord(intent("e1", 1, inA))
		o := observation(agent.KindExec, 1, 5, inA)
		o.File, o.Args, o.Env, o.ArgsCut = file, redact.NewBytes([]byte(args)), redact.NewBytes([]byte(env)), cut
		k.Observe(o)
		var b attribution.Batch
		line := bytes.TrimSuffix(k.events[0].AppendLine(nil), []byte("\n"))
		if err := procevents.Decode(line, &b); err != nil || len(b.Events) != 1 || b.Events[0] != k.events[0].Event ||
			!json.Valid(line) {
			t.Errorf("Decode(%s) = %+v, %v, want %+v", line, b.Events, err, k.events[0].Event)
		}
	})
}

func TestLine(t *testing.T) {
	t.Run("AGT-6 the members of an exec and of an exit", func(t *testing.T) {
		k := track(agent.Options{})
		k.AddRecord(intent("e1", 7, inA))
		o := fork(7, 12, 11, inA)
		o.CPU, o.Sequence, o.InnerPID, o.CgroupID, o.PIDNS = 1, 4, 3, 99, 5
		k.Observe(o)
		x := run(7, 12, inA, "sh", "-c", "id")
		x.File, x.UID, x.Again, x.ArgsCut, x.CPU, x.Sequence = "/bin/sh", 1000, true, true, 1, 1
		k.Observe(x)
		end := exit(7, 12, inA)
		end.Status = 9 | 0x80
		k.Observe(end)
		var text []byte
		for i := range k.events {
			text = k.events[i].AppendLine(text)
		}
		for _, member := range []string{
			`"event":"fork","time":"2026-11-22T08:00:13.000000001Z","node":"n1","agent":"execaudit-agent","role":"session","origin":"kernel","cpu":1,"sequence":4,`,
			`"parent":{"pid":11,"startTicks":1100,"bootID":"` + boot + `"}`, `"forkSeen":true`, `"innerPID":3`, `"cgroupID":99`,
			`"pidNS":5`, `"mountNS":4026532000`,
			`"again":true`, `"firstImage":true,"imageTicks":1300`, `"uid":1000,"gid":0,"euid":0,"egid":0`,
			`"file":"/bin/sh","argv":["sh","-c","id"],"argvCut":true`,
			`"signal":9,"coreDumped":true`,
			`"session":{"auditID":"audit-e1","execID":"e1","containerID":"` + inA + `","namespace":"shop","pod":"web-0","container":"app"}`,
		} {
			if !strings.Contains(string(text), member) {
				t.Errorf("no %s in\n%s", member, text)
			}
		}
	})
}
