package attribution_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/lanyard-dev/lanyard/execaudit/attribution"
)

const (
	bridgeSession = "5ff1c7b9-0000-4000-8001-000000000000"
	bridgeEnv     = "LANYARD_EXEC_SESSION"
)

// one returns the event of a format's first line after a change.
func one(t *testing.T, format, old, by string) attribution.Event {
	t.Helper()
	b := attribution.Batch{Node: "n1"}
	if err := decoders[format](changed(t, format, old, by), &b); err != nil || len(b.Events) != 1 {
		t.Fatalf("%s, %s: %+v, %v", format, by, b.Events, err)
	}
	return b.Events[0]
}

func TestLoginUID(t *testing.T) {
	const other = `"x":0`
	rows := []struct{ format, old, name, beside string }{
		{"tetragon", `"auid":4294967295`, "auid", ""},
		{"falco", `"user.uid":0`, "user.loginuid", ""},
		{"procevents", `"event"`, "loginUID", `,"event"`},
	}
	for _, row := range rows {
		t.Run("ATT-13 "+row.format+": the login UID, and every word for none", func(t *testing.T) {
			values := map[string]uint32{"2013265920": 2013265920, "1000": 1000, "4294967295": 0, "0": 0, "null": 0}
			if row.format == "falco" {
				values["-1"], values[`"<NA>"`], values["4294967296"] = 0, 0, 0
			}
			for value, want := range values {
				if e := one(t, row.format, row.old, `"`+row.name+`":`+value+row.beside); e.LoginUID != want {
					t.Errorf("%s: %s: login UID %d, want %d", row.format, value, e.LoginUID, want)
				}
			}
			if e := one(t, row.format, row.old, other+row.beside); e.LoginUID != 0 {
				t.Errorf("%s: absent: login UID %d", row.format, e.LoginUID)
			}
		})
		t.Run("ATT-8 "+row.format+": a login UID that cannot be is malformed", func(t *testing.T) {
			for _, value := range []string{"1.5", "9223372036854775808", "-9223372036854775809"} {
				b := attribution.Batch{Node: "n1"}
				line := changed(t, row.format, row.old, `"`+row.name+`":`+value+row.beside)
				if err := decoders[row.format](line, &b); !errors.Is(err, attribution.ErrMalformed) {
					t.Errorf("%s: %s: %+v, %v", row.format, value, b.Events, err)
				}
			}
		})
	}
	t.Run("ATT-13 journal: the login UID of the mark", func(t *testing.T) {
		var b attribution.Batch
		err := decoders["journal"](changed(t, "journal", `"execID"`, `"sessionID":7,"loginUID":2013265920,"execID"`), &b)
		if err != nil || b.Records[0].LoginUID != 2013265920 || b.Records[0].SessionID != 7 {
			t.Errorf("Decode = %+v, %v", b.Records, err)
		}
	})
}

func TestExecSession(t *testing.T) {
	claims := map[string][2]string{
		"tetragon":   {`{"Key":"HOME","Value":"/root"}`, `{"Key":"` + bridgeEnv + `","Value":"` + bridgeSession + `"}`},
		"falco":      {`"user.uid":0`, `"proc.env[` + bridgeEnv + `]":"` + bridgeSession + `"`},
		"tracee":     {`"KUBERNETES_EXEC_AUDIT_ID=`, `"` + bridgeEnv + `=` + bridgeSession + `","KUBERNETES_EXEC_AUDIT_ID=`},
		"procevents": {`"event"`, `"execSession":"` + bridgeSession + `","event"`},
	}
	for format, change := range claims {
		t.Run("ATT-3 "+format+": a bridge's session ID beside the audit ID", func(t *testing.T) {
			if e := one(t, format, change[0], change[1]); e.ExecSession != bridgeSession || e.AuditID != sampleID {
				t.Errorf("Decode = %+v", e)
			}
			if e := decodeAll(t, format).Events[0]; e.ExecSession != "" {
				t.Errorf("without one: %+v", e)
			}
		})
	}
	t.Run("ATT-3 falco: the process's own session ID before an ancestor's", func(t *testing.T) {
		ancestor := `"proc.aenv[` + bridgeEnv + `]":"` + bridgeSession + `"`
		if e := one(t, "falco", `"user.uid":0`, ancestor); e.ExecSession != bridgeSession {
			t.Errorf("an ancestor's: %+v", e)
		}
		for value, want := range map[string]string{`"own"`: "own", `"<NA>"`: bridgeSession, `null`: bridgeSession} {
			if e := one(t, "falco", `"user.uid":0`, ancestor+`,"proc.env[`+bridgeEnv+`]":`+value); e.ExecSession != want {
				t.Errorf("own %s: %+v", value, e)
			}
		}
	})
	t.Run("ATT-3 tetragon, tracee: of a variable that is set twice the first counts, as for getenv", func(t *testing.T) {
		for _, format := range []string{"tetragon", "tracee"} {
			twice := claims[format][1] + `,` + strings.Replace(claims[format][1], bridgeSession, "later", 1)
			if format == "tracee" {
				twice = `"` + bridgeEnv + `=` + bridgeSession + `","` + bridgeEnv + `=later","KUBERNETES_EXEC_AUDIT_ID=`
			}
			if e := one(t, format, claims[format][0], twice); e.ExecSession != bridgeSession || e.AuditID != sampleID {
				t.Errorf("%s: %+v", format, e)
			}
		}
	})
	t.Run("ATT-3 journal: a bridge's session ID", func(t *testing.T) {
		var b attribution.Batch
		err := decoders["journal"](changed(t, "journal", `"execID"`, `"execSession":"`+bridgeSession+`","execID"`), &b)
		if err != nil || b.Records[0].ExecSession != bridgeSession || b.Records[0].AuditID != sampleID {
			t.Errorf("Decode = %+v, %v", b.Records, err)
		}
	})
}

func TestAuditOfBridge(t *testing.T) {
	const before = `"authorization.k8s.io/reason":""`
	with := func(t *testing.T, key, value string) (attribution.Batch, error) {
		t.Helper()
		var b attribution.Batch
		err := decoders["audit"](changed(t, "audit", before, key+":"+value), &b)
		return b, err
	}
	key, value := `"exec.lanyard.dev/session"`, `"`+bridgeSession+`"`
	t.Run("ATT-3 audit log: the bridge's annotation, its slash escaped or not", func(t *testing.T) {
		for _, key := range []string{key, strings.ReplaceAll(key, "/", `\/`)} {
			if b, err := with(t, key, value); err != nil || b.Audits[0].ExecSession != bridgeSession || b.Audits[0].RequestUID == "" {
				t.Errorf("%s: %+v, %v", key, b.Audits, err)
			}
		}
		if b := decodeAll(t, "audit"); b.Audits[0].ExecSession != "" {
			t.Errorf("without: %+v", b.Audits[0])
		}
	})
	t.Run("ATT-14 audit log: another webhook's annotation of a name like it is not the bridge's", func(t *testing.T) {
		for _, key := range []string{
			`"verify.exec.lanyard.dev/session"`, `"exec.lanyard.dev/sessions"`, `"Exec.lanyard.dev/session"`, `"session"`,
			`"exec.lanyard.dev/exec.lanyard.dev/session"`, `"exec.lanyard.dev\u002fsessio"`,
		} {
			if b, err := with(t, key, value); err != nil || b.Audits[0].ExecSession != "" {
				t.Errorf("%s: %+v, %v", key, b.Audits, err)
			}
		}
	})
	t.Run("ATT-8 audit log: an annotation that is not a session ID, or comes twice, is malformed, as for the bridge's own reader", func(t *testing.T) {
		for _, value := range []string{
			`""`, `null`, `7`, `{}`, `["` + bridgeSession + `"]`, `"00000000-0000-0000-0000-000000000000"`, strings.ToUpper(value),
			`"` + bridgeSession + ` "`, `"` + strings.ReplaceAll(bridgeSession, "-", "") + `"`, `"5ff1c7b9-0000-4000-8001-00000000000g"`,
			`"5ff1c7b9-0000-4000-8001+000000000000"`, value + `,` + key + `:` + value, value + `,"exec.lanyard.dev\/session":` + value,
		} {
			if b, err := with(t, key, value); !errors.Is(err, attribution.ErrMalformed) || len(b.Audits) > 0 {
				t.Errorf("%s: %+v, %v", value, b.Audits, err)
			}
		}
	})
	t.Run("ATT-7 audit log: the code of a request that was never upgraded is kept", func(t *testing.T) {
		var b attribution.Batch
		err := decoders["audit"](changed(t, "audit", `"code":101`, `"code":200`), &b)
		if err != nil || b.Audits[0].Code != 200 {
			t.Errorf("Decode = %+v, %v", b.Audits, err)
		}
	})
}

func TestCertainIdentities(t *testing.T) {
	t.Run("ATT-14 which agents identify a process for certain", func(t *testing.T) {
		for format, want := range map[string]bool{"tetragon": true, "procevents": true} {
			if e := decodeAll(t, format).Events[0]; e.Process.Certain() != want || e.Parent.Certain() != want {
				t.Errorf("%s: %+v of %+v, want certain %v", format, e.Process, e.Parent, want)
			}
		}
		if e := decodeAll(t, "falco").Events[1]; !e.Process.Certain() || !e.Parent.Certain() {
			t.Errorf("falco: %+v of %+v", e.Process, e.Parent)
		}
		if e := decodeAll(t, "tracee").Events[1]; !e.Process.Identified() || e.Process.Certain() || !e.Parent.Identified() || e.Parent.Certain() {
			t.Errorf("tracee: %+v of %+v", e.Process, e.Parent)
		}
	})
	t.Run("ATT-14 procevents: without the boot a process is not certain", func(t *testing.T) {
		if e := one(t, "procevents", `,"bootID":"b"`, ""); !e.Process.Identified() || e.Process.Certain() || e.Parent.Certain() {
			t.Errorf("Decode = %+v", e)
		}
	})
	t.Run("ATT-14 tracee: processes of different numbers are never one, though their entity IDs collide", func(t *testing.T) {
		entity := func(pid, ppid, id, above string) attribution.Event {
			return one(t, "tracee", `"hostProcessId":4711,"hostParentProcessId":4700`,
				`"hostProcessId":`+pid+`,"hostParentProcessId":`+ppid+`,"processEntityId":`+id+`,"parentEntityId":`+above)
		}
		a, b := entity("1", "2", "7", "8"), entity("3", "4", "7", "8")
		if a.Process.ExecID == b.Process.ExecID || a.Parent.ExecID == b.Parent.ExecID {
			t.Errorf("two processes are one: %+v, %+v", a, b)
		}
		if child := entity("9", "1", "5", "7"); child.Parent != a.Process {
			t.Errorf("a parent is not the process that it was: %+v, %+v", child.Parent, a.Process)
		}
		for _, e := range []attribution.Event{entity("1", "0", "7", "8"), entity("1", "2", "7", "0"), entity("1", "2", "7", "null")} {
			if e.Parent.ExecID != "" {
				t.Errorf("a parent without a number or an ID is identified: %+v", e.Parent)
			}
		}
	})
}
