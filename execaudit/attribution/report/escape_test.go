package report_test

import (
	"bytes"
	"encoding/json"
	"testing"
	"unicode"

	"pgregory.net/rapid"

	"github.com/lanyard-dev/lanyard/execaudit/attribution"
	"github.com/lanyard-dev/lanyard/execaudit/attribution/report"
)

// hostile returns a request whose every text is this one.
func hostile(text string) *attribution.Session {
	user := attribution.User{Name: text, UID: text, Groups: []string{text}, Extra: map[string][]string{text: {text}}}
	return &attribution.Session{
		AuditID: text, User: user, Impersonated: &user, SourceIPs: []string{text}, UserAgent: text, Namespace: text, Pod: text, Container: text,
		Command: []string{text}, Received: at, ExecSession: text,
	}
}

func TestTerminal(t *testing.T) {
	type writer interface {
		Add(*attribution.Answer) error
		Close() error
	}
	for form, start := range map[string]func(*bytes.Buffer) writer{
		"table":      func(b *bytes.Buffer) writer { return report.NewTable(b) },
		"live table": func(b *bytes.Buffer) writer { return report.NewLiveTable(b) },
		"JSON lines": func(b *bytes.Buffer) writer { return report.NewJSON(b) },
		"page":       func(b *bytes.Buffer) writer { return report.NewPage(b) },
	} {
		t.Run("ATT-9 no log can write on a terminal or turn its text: "+form, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				text := rapid.String().Draw(t, "text") + rapid.SampledFrom([]string{"\x1b[2J", "\u009b2J", "\u202e", "\x7f", "\u2028", "\U000e0001", "\xff", "😀</script>"}).Draw(t, "more")
				a := sample(rapid.SampledFrom([]attribution.Verdict{attribution.VerdictCorroborated, attribution.VerdictHint}).Draw(t, "verdict"))
				s := a.Session
				if s == nil {
					s = a.Claims[0]
				}
				a.AuditID, s.AuditID, s.User.Name, s.Namespace, s.Pod = text, text, text, text, text
				if a.Claims != nil {
					a.Claims = append(a.Claims, hostile(text))
				}
				a.Revision, a.ExecSession, a.Reason = rapid.IntRange(1, 2).Draw(t, "revision"), text, attribution.ReasonReused
				a.Event.Command, a.Event.Pod, a.Event.Node, a.Event.Process.ExecID = text, text, text, text
				var out bytes.Buffer
				w := start(&out)
				if err := w.Add(a); err != nil {
					t.Fatal(err)
				}
				if err := w.Close(); err != nil {
					t.Fatal(err)
				}
				for _, r := range out.String() {
					if !unicode.IsPrint(r) && r != '\n' {
						t.Fatalf("%U in %q", r, out.String())
					}
				}
			})
		})
	}
	t.Run("ATT-9 JSON lines lose nothing by it", func(t *testing.T) {
		rapid.Check(t, func(t *rapid.T) {
			a := sample(attribution.VerdictHint)
			a.Event.Command = rapid.String().Draw(t, "text") + "\u009b\u202e\x7f\U000e0001"
			a.ExecSession, a.Claims = a.Event.Command, append(a.Claims, hostile(a.Event.Command))
			var out bytes.Buffer
			if err := report.NewJSON(&out).Add(a); err != nil {
				t.Fatal(err)
			}
			var line report.Line
			if err := json.Unmarshal(out.Bytes(), &line); err != nil || line.Command != a.Event.Command || line.ExecSession != a.ExecSession {
				t.Fatalf("%q came back as %q, %v", a.Event.Command, line.Command, err)
			}
			if got := line.Claims[1]; got.User.Name != a.Event.Command || got.Impersonated.Groups[0] != a.Event.Command || got.ExecSession != a.Event.Command {
				t.Fatalf("%q came back as %+v", a.Event.Command, got)
			}
		})
	})
}
