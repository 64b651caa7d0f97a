package report_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/lanyard-dev/lanyard/execaudit/attribution"
	"github.com/lanyard-dev/lanyard/execaudit/attribution/report"
)

// corrected returns sample's answer and the one that replaces it: another request used the ID.
func corrected() (before, after *attribution.Answer) {
	before, after = sample(attribution.VerdictCorroborated), sample(attribution.VerdictConflicting)
	after.Revision, after.Reason, after.ExecSession = 2, attribution.ReasonReused, "session-1"
	after.Claims = append(after.Claims, &attribution.Session{
		AuditID: "id-a", ExecSession: "session-2", User: attribution.User{Name: "mallory"}, Namespace: "mail", Pod: "mx-0", Received: at,
	})
	return before, after
}

// adder is a form of output.
type adder interface {
	Add(*attribution.Answer) error
}

// add returns the lines that w wrote to out about the answers.
func add(t *testing.T, w adder, out *bytes.Buffer, answers ...*attribution.Answer) []string {
	t.Helper()
	for _, a := range answers {
		if err := w.Add(a); err != nil {
			t.Fatal(err)
		}
	}
	return strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
}

func TestCorrection(t *testing.T) {
	before, after := corrected()
	t.Run("ATT-16 a live table names the answer that a correction replaces, and no user as fact any more", func(t *testing.T) {
		var out bytes.Buffer
		rows := add(t, report.NewLiveTable(&out), &out, before, after)
		if len(rows) != 3 || !strings.HasPrefix(rows[0], "ANSWER        TIME") || !strings.HasPrefix(rows[1], "3f2a9c01      2026-11-21 04:10:00.250  corroborated  alice ") ||
			!strings.HasPrefix(rows[2], "3f2a9c01#2    2026-11-21 04:10:00.250  conflicting   (alice, mallory?) ") ||
			!strings.HasSuffix(rows[2], "  # corrected: "+string(attribution.ReasonReused)) || strings.Contains(rows[1], "corrected") {
			t.Errorf("table\n%s", out.String())
		}
	})
	t.Run("ATT-16 a live table says of a fact that it is a correction", func(t *testing.T) {
		first, fact := sample(attribution.VerdictHint), sample(attribution.VerdictCorroborated)
		fact.Revision = 2
		var out bytes.Buffer
		rows := add(t, report.NewLiveTable(&out), &out, first, fact)
		if !strings.HasPrefix(rows[2], "3f2a9c01#2 ") || !strings.Contains(rows[2], "  corroborated  alice ") || !strings.HasSuffix(rows[2], "  # corrected: "+string(attribution.ReasonChain)) {
			t.Errorf("table\n%s", out.String())
		}
	})
	t.Run("ATT-16 a table of final answers has neither names of answers nor corrections", func(t *testing.T) {
		var out bytes.Buffer
		if rows := add(t, report.NewTable(&out), &out, after); !strings.HasPrefix(rows[0], "TIME ") || strings.Contains(rows[1], "3f2a9c01") || strings.Contains(rows[1], "corrected") {
			t.Errorf("table\n%s", out.String())
		}
	})
	t.Run("ATT-16 JSON lines have each revision under one key, with every request that used the ID", func(t *testing.T) {
		var out bytes.Buffer
		var lines [2]report.Line
		for i, text := range add(t, report.NewJSON(&out), &out, before, after) {
			if !strings.HasPrefix(text, `{"key":"3f2a9c01ff0000000000000000000000","revision":`) {
				t.Errorf("line %s", text)
			}
			if err := json.Unmarshal([]byte(text), &lines[i]); err != nil {
				t.Fatal(err)
			}
		}
		first, second := &lines[0], &lines[1]
		if first.Key != key || second.Key != key || first.Revision != 1 || second.Revision != 2 || first.User != "alice" || second.User != "" || second.ExecSession != "session-1" {
			t.Errorf("lines %+v", lines)
		}
		if len(second.Claims) != 2 || second.Claims[0].User.Name != "alice" || second.Claims[1].User.Name != "mallory" || second.Claims[1].ExecSession != "session-2" {
			t.Errorf("claims of %+v", second)
		}
	})
}
