package attribution_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/lanyard-dev/lanyard/execaudit/attribution"
)

// changed returns a format's first sample with a part replaced.
func changed(t *testing.T, format, old, by string) []byte {
	t.Helper()
	line := string(samples(t, format)[0])
	if !strings.Contains(line, old) {
		t.Fatalf("%s has no %s", line, old)
	}
	return []byte(strings.ReplaceAll(line, old, by))
}

func TestNodeNames(t *testing.T) {
	names := map[string]string{"tetragon": `"node_name":"n1"`, "falco": `"hostname":"n1"`, "spo": `"node":{"name":"n1"}`, "procevents": `"node":"n1"`}
	for format, name := range names {
		t.Run("ATT-14 "+format+" without a node name is a fault, unless the reader names the node", func(t *testing.T) {
			member, _, _ := strings.Cut(name, ":")
			for _, none := range []string{`"x":0`, member + `:null`, strings.Replace(name, "n1", "", 1)} {
				line := changed(t, format, name, none)
				var b attribution.Batch
				if err := decoders[format](line, &b); !errors.Is(err, attribution.ErrNoNode) || !errors.Is(err, attribution.ErrMalformed) || len(b.Events) > 0 {
					t.Errorf("%s: %v, %d events", none, err, len(b.Events))
				}
				b = attribution.Batch{Node: "n9"}
				if err := decoders[format](line, &b); err != nil || b.Events[0].Node != "n9" {
					t.Errorf("%s: %v, %+v", none, err, b.Events)
				}
			}
		})
	}
	t.Run("ATT-14 Tracee, which names none, is a fault, unless the reader names the node", func(t *testing.T) {
		var b attribution.Batch
		if err := decoders["tracee"](samples(t, "tracee")[0], &b); !errors.Is(err, attribution.ErrNoNode) || len(b.Events) > 0 {
			t.Errorf("%v, %d events", err, len(b.Events))
		}
	})
	t.Run("ATT-14 a machine corroborates nothing on a node without a name", func(t *testing.T) {
		alice, root := audit("id-a", "alice"), first("id-a", 10, 100)
		root.Node = ""
		elsewhere := child(root, 11, 200)
		elsewhere.Node = "" // another node, as far as anybody can tell
		for _, a := range story(attribution.Options{}, alice, root, elsewhere) {
			if a.Verdict != attribution.VerdictHint || a.Reason != attribution.ReasonNoNode || a.Session != nil {
				t.Errorf("verdict %s (%s), session %v", a.Verdict, a.Reason, a.Session)
			}
		}
	})
}

func TestNameless(t *testing.T) {
	for name, who := range map[string]func(*attribution.Audit){
		"ATT-14 an audit event without a user names nobody": func(a *attribution.Audit) { a.User = attribution.User{} },
		"ATT-14 an impersonated user without a name is nobody": func(a *attribution.Audit) {
			a.Impersonated = &attribution.User{Groups: []string{"dev"}}
		},
	} {
		t.Run(name, func(t *testing.T) {
			alice, root := audit("id-a", "alice"), first("id-a", 10, 100)
			who(&alice)
			claim := child(first("", 20, 90), 21, 200)
			claim.AuditID = "id-a"
			for _, a := range story(attribution.Options{}, alice, root, claim) {
				if a.Verdict != attribution.VerdictUnknown || a.Reason != attribution.ReasonNoUser || a.Session != nil || a.Claims != nil {
					t.Errorf("verdict %s (%s), session %v, claimed %v", a.Verdict, a.Reason, a.Session, a.Claims)
				}
			}
		})
	}
}

func TestAuditNulls(t *testing.T) {
	t.Run("ATT-14 null is none, wherever an audit event has it", func(t *testing.T) {
		for _, member := range []string{"user", "impersonatedUser", "sourceIPs", "userAgent", "responseStatus", "annotations", "stageTimestamp", "requestURI"} {
			line := `{"auditID":"a","stage":"ResponseStarted","` + member + `":null,"objectRef":{"resource":"pods","subresource":"exec"},"requestReceivedTimestamp":"2026-11-21T04:10:00Z"}`
			var b attribution.Batch
			if err := decoders["audit"]([]byte(line), &b); err != nil || len(b.Audits) != 1 {
				t.Fatalf("%s: %v, %d audits", member, err, len(b.Audits))
			}
			a := b.Audits[0]
			if a.User.Name != "" || a.Impersonated != nil || a.SourceIPs != nil || a.UserAgent != "" || a.Code != 0 || !a.At.Equal(a.Received) {
				t.Errorf("%s: %+v", member, a)
			}
		}
	})
	t.Run("ATT-14 an exec without a time, with a status or a user that are none, is a fault", func(t *testing.T) {
		for _, c := range [][2]string{
			{`"requestReceivedTimestamp":"2026-11-21T04:10:00.056518Z"`, `"requestReceivedTimestamp":null`},
			{`"requestReceivedTimestamp":"2026-11-21T04:10:00.056518Z"`, `"x":null`},
			{`"requestReceivedTimestamp":"2026-11-21T04:10:00.056518Z"`, `"requestReceivedTimestamp":1795234200`},
			{`"code":101`, `"code":"403"`},
			{`"code":101`, `"code":99999999999999999999`},
			{`"impersonatedUser":{"username":"bob"`, `"impersonatedUser":{"username":null`},
			{`"impersonatedUser":{"username":"bob"`, `"impersonatedUser":{"USERNAME":"bob"`},
			{`"auditID":"` + sampleID + `"`, `"auditID":null`},
			{`"auditID":"` + sampleID + `"`, `"AUDITID":"` + sampleID + `"`},
		} {
			var b attribution.Batch
			if err := decoders["audit"](changed(t, "audit", c[0], c[1]), &b); !errors.Is(err, attribution.ErrMalformed) || len(b.Audits) > 0 {
				t.Errorf("%s: %v, %d audits", c[1], err, len(b.Audits))
			}
		}
	})
	t.Run("ATT-8 ATT-15 a list with something that is no event is a fault, and one of nothing is none", func(t *testing.T) {
		list := func(items string) string {
			return `{"kind":"EventList","apiVersion":"audit.k8s.io/v1","items":` + items + `}`
		}
		exec := `{"auditID":"a","objectRef":{"resource":"pods","subresource":"exec"},"requestReceivedTimestamp":"2026-11-21T04:10:00Z"}`
		for items, want := range map[string]struct {
			ok      bool
			audits  int
			ignored int
		}{
			"[]": {true, 0, 1}, "null": {true, 0, 1}, `[{"auditID":"a"}]`: {true, 0, 1}, "[" + exec + `,{"auditID":"b"}]`: {true, 1, 0},
			"[null]": {}, "[5]": {}, "{}": {}, `"exec"`: {}, "[" + exec + ",null]": {}, "[" + exec + `,{"_source":` + exec + "}]": {},
			"[" + strings.Replace(exec, `"auditID":"a",`, "", 1) + "]": {}, `[{"_source":{"auditID":"a"}}]`: {},
		} {
			var b attribution.Batch
			err := decoders["audit"]([]byte(list(items)), &b)
			if (err == nil) != want.ok || len(b.Audits) != want.audits || b.Ignored.OtherRequests != want.ignored {
				t.Errorf("%s: %v, %d audits, %+v", items, err, len(b.Audits), b.Ignored)
			}
		}
	})
}

func TestOddNumbers(t *testing.T) {
	pids := map[string]string{"tetragon": `"pid":4711`, "tracee": `"hostProcessId":4711`, "spo": `"pid":4711`, "procevents": `"pid":4711`}
	for format, pid := range pids {
		t.Run("ATT-14 "+format+": a PID that no process can have is a fault", func(t *testing.T) {
			member, _, _ := strings.Cut(pid, ":")
			for _, odd := range []string{"-4711", "4294972007", "99999999999999999999", "4711.5", `"4711"`} {
				b := attribution.Batch{Node: "n1"}
				if err := decoders[format](changed(t, format, pid, member+":"+odd), &b); !errors.Is(err, attribution.ErrMalformed) || len(b.Events) > 0 {
					t.Errorf("%s: %v, %+v", odd, err, b.Events)
				}
			}
		})
	}
	t.Run("ATT-14 ATT-15 Falco's words for an unknown process are none, and counted", func(t *testing.T) {
		for _, unknown := range []string{"-1", "0", "null", `"<NA>"`, "4294972007"} {
			var b attribution.Batch
			if err := decoders["falco"](changed(t, "falco", `"proc.pid":4711`, `"proc.pid":`+unknown), &b); err != nil || len(b.Events) > 0 || b.Ignored.NoProcess != 1 {
				t.Errorf("%s: %v, %d events, %+v", unknown, err, len(b.Events), b.Ignored)
			}
			parent := bytes.Replace(samples(t, "falco")[1], []byte(`"proc.ppid":4700`), []byte(`"proc.ppid":`+unknown), 1)
			if err := decoders["falco"](parent, &b); err != nil || b.Events[0].Parent.Identified() {
				t.Errorf("parent %s: %v, %+v", unknown, err, b.Events)
			}
		}
	})
	t.Run("ATT-14 start ticks beyond 64 bits are a fault", func(t *testing.T) {
		var b attribution.Batch
		if err := decoders["procevents"](changed(t, "procevents", `"startTicks":123456`, `"startTicks":18446744073709675072`), &b); !errors.Is(err, attribution.ErrMalformed) {
			t.Errorf("%v, %+v", err, b.Events)
		}
	})
}

func TestOddTimes(t *testing.T) {
	for _, format := range []string{"audit", "tetragon", "falco", "spo", "journal", "procevents"} {
		t.Run("ATT-14 "+format+": a day that there is not is a fault", func(t *testing.T) {
			b := attribution.Batch{Node: "n1"}
			if err := decoders[format](changed(t, format, "2026-11-21", "2026-02-31"), &b); !errors.Is(err, attribution.ErrMalformed) {
				t.Errorf("%v, %+v", err, b.Events)
			}
		})
	}
}

func TestKeyCase(t *testing.T) {
	t.Run("ATT-14 a member's name in other letters is another member, in every format", func(t *testing.T) {
		members := map[string]string{
			"audit": `"AUDITID":"forged","User":{"username":"mallory"},"IMPERSONATEDUSER":{"username":"mallory"}`, "tetragon": `"NODE_NAME":"n9","Process_exec":{"process":{"exec_id":"x"}}`,
			"falco": `"Hostname":"n9","Output_fields":{"proc.pid":1}`, "tracee": `"HostProcessId":1,"EventName":"x"`, "spo": `"RequestUID":"forged","Pid":1`,
			"journal": `"AuditID":"forged","PID":1`, "procevents": `"AuditID":"forged","Node":"n9","Process":{"pid":1,"startTicks":1}`,
		}
		for format, more := range members {
			plain, with := attribution.Batch{Node: "n1"}, attribution.Batch{Node: "n1"}
			line := samples(t, format)[0]
			if err := errors.Join(decoders[format](line, &plain), decoders[format](append(line[:len(line)-1:len(line)-1], ","+more+"}"...), &with)); err != nil {
				t.Fatalf("%s: %v", format, err)
			}
			if want, got := content(&plain), content(&with); got != want {
				t.Errorf("%s: %s, want %s", format, got, want)
			}
		}
	})
}

func content(b *attribution.Batch) string {
	var out strings.Builder
	for _, a := range b.Audits {
		out.WriteString(a.AuditID + a.User.Name + a.Impersonated.Name)
	}
	for _, e := range b.Events {
		out.WriteString(e.Node + e.AuditID + e.RequestUID + e.Time.Format(time.RFC3339Nano) + e.Process.ExecID)
		out.WriteRune(rune(e.Process.PID))
	}
	for _, r := range b.Records {
		out.WriteString(r.AuditID)
		out.WriteRune(rune(r.Process.PID))
	}
	return out.String()
}
