package report_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/lanyard-dev/lanyard/execaudit/attribution"
	"github.com/lanyard-dev/lanyard/execaudit/attribution/report"
)

var at = time.Date(2026, 11, 21, 4, 10, 0, 250e6, time.UTC)

var key = attribution.Key{0x3f, 0x2a, 0x9c, 0x01, 0xff}

func sample(v attribution.Verdict) *attribution.Answer {
	s := &attribution.Session{AuditID: "id-a", User: attribution.User{Name: "alice", Groups: []string{"dev"}}, Namespace: "shop", Pod: "web-0", Received: at}
	a := &attribution.Answer{Key: key, Revision: 1, Verdict: v, Reason: attribution.ReasonChain, AuditID: "id-a", Event: attribution.Event{
		Time: at, Kind: attribution.KindExec, Agent: "tetragon", Node: "n1", Process: attribution.Process{PID: 4711, ExecID: "e"}, Command: "sh -c </script>\x1b[2J",
	}}
	if v == attribution.VerdictCorroborated {
		a.Session = s
	} else {
		a.Claims = []*attribution.Session{s}
	}
	return a
}

func TestTable(t *testing.T) {
	t.Run("ATT-9 ATT-12 a table for people, in which a claim does not look like a fact", func(t *testing.T) {
		var out bytes.Buffer
		table := report.NewTable(&out)
		for _, v := range []attribution.Verdict{attribution.VerdictCorroborated, attribution.VerdictHint} {
			if err := table.Add(sample(v)); err != nil {
				t.Fatal(err)
			}
		}
		rows := strings.Split(out.String(), "\n")
		if !strings.HasPrefix(rows[0], "TIME") || !strings.Contains(rows[1], "corroborated  alice ") || !strings.Contains(rows[2], "(alice?)") {
			t.Errorf("table\n%s", out.String())
		}
		if strings.Contains(out.String(), "\x1b") {
			t.Error("a command line can write on the terminal")
		}
	})
}

// spoofed returns a fact of mallory's whose process claims alice's ID.
func spoofed() *attribution.Answer {
	a := sample(attribution.VerdictHint)
	a.Verdict, a.Reason, a.AuditID = attribution.VerdictCorroborated, attribution.ReasonKernelSpoofed, "id-m"
	a.Session = &attribution.Session{AuditID: "id-m", User: attribution.User{Name: "mallory"}, Namespace: "shop", Pod: "web-0", Received: at}
	return a
}

func TestBorrowed(t *testing.T) {
	t.Run("ATT-9 ATT-13 a fact whose process claims another's ID says so, and whose", func(t *testing.T) {
		var out bytes.Buffer
		if err := report.NewTable(&out).Add(spoofed()); err != nil {
			t.Fatal(err)
		}
		if row := strings.Split(out.String(), "\n")[1]; !strings.Contains(row, "  corroborated  mallory ") || !strings.HasSuffix(row, "  # "+string(attribution.ReasonKernelSpoofed)+": (alice?)") {
			t.Errorf("row %s", row)
		}
	})
}

func TestPlace(t *testing.T) {
	claim := sample(attribution.VerdictHint)
	stranger := &attribution.Answer{Event: claim.Event}
	forged := sample(attribution.VerdictConflicting)
	forged.Event.Namespace, forged.Event.Pod = "mail", "mx-0"
	for _, c := range []struct {
		name, want string
		a          *attribution.Answer
	}{
		{"ATT-9 a fact's pod", "shop/web-0", sample(attribution.VerdictCorroborated)},
		{"ATT-9 ATT-12 a pod that only the claim names is a claim", "(shop/web-0?)", claim},
		{"ATT-9 a conflicting row has the pod that the process ran in", "mail/mx-0", forged},
		{"ATT-9 no pod at all", "-", stranger},
	} {
		t.Run(c.name, func(t *testing.T) {
			var out bytes.Buffer
			if err := report.NewTable(&out).Add(c.a); err != nil {
				t.Fatal(err)
			}
			row := strings.Split(out.String(), "\n")[1]
			if got := strings.Fields(row)[4]; got != c.want {
				t.Errorf("pod %q, want %q: %s", got, c.want, row)
			}
		})
	}
}

func TestJSON(t *testing.T) {
	t.Run("ATT-5 ATT-9 one object a line; only corroborated names a user", func(t *testing.T) {
		for _, v := range []attribution.Verdict{attribution.VerdictCorroborated, attribution.VerdictHint, attribution.VerdictConflicting} {
			var out bytes.Buffer
			if err := report.NewJSON(&out).Add(sample(v)); err != nil {
				t.Fatal(err)
			}
			var line map[string]any
			if err := json.Unmarshal(out.Bytes(), &line); err != nil {
				t.Fatal(err)
			}
			_, named := line["user"]
			if line["verdict"] != v.String() || named != (v == attribution.VerdictCorroborated) || named != (line["session"] != nil) {
				t.Errorf("line %s", out.String())
			}
		}
	})
	t.Run("a verdict's text comes back", func(t *testing.T) {
		for v := attribution.VerdictUnknown; v <= attribution.VerdictCorroborated; v++ {
			text, _ := v.MarshalText()
			var back attribution.Verdict
			if err := back.UnmarshalText(text); err != nil || back != v {
				t.Errorf("%s came back as %s, %v", v, back, err)
			}
		}
	})
}

func TestPage(t *testing.T) {
	t.Run("ATT-9 one page that loads nothing and whose data no log can leave", func(t *testing.T) {
		var out bytes.Buffer
		p := report.NewPage(&out)
		for _, a := range []*attribution.Answer{sample(attribution.VerdictCorroborated), sample(attribution.VerdictConflicting), spoofed()} {
			if err := p.Add(a); err != nil {
				t.Fatal(err)
			}
		}
		if err := p.Close(); err != nil {
			t.Fatal(err)
		}
		text := out.String()
		if strings.Count(text, "</script>") != 2 || strings.Contains(text, "{{DATA}}") {
			t.Error("the data left its place")
		}
		for _, outside := range []string{"http://", "https://", "src=", "@import"} {
			if strings.Contains(text, outside) {
				t.Errorf("the page refers to %q", outside)
			}
		}
		_, rest, _ := strings.Cut(text, `type="application/json">`)
		data, _, _ := strings.Cut(rest, "</script>")
		var content struct {
			Sessions []struct{ User string }
			Events   []struct{ Verdict, Who, Borrowed string }
		}
		if err := json.Unmarshal([]byte(data), &content); err != nil {
			t.Fatal(err)
		}
		if len(content.Sessions) != 2 || content.Sessions[0].User != "alice" || content.Events[1].Verdict != "conflicting" || content.Events[1].Who != "(alice?)" ||
			content.Events[2].Who != "mallory" || content.Events[2].Borrowed != "(alice?)" || content.Events[0].Borrowed != "" {
			t.Errorf("content %+v", content)
		}
	})
	t.Run("what does not fit is said", func(t *testing.T) {
		p := report.NewPage(&bytes.Buffer{})
		for range report.MaxPageEvents + 1 {
			if err := p.Add(sample(attribution.VerdictHint)); err != nil {
				t.Fatal(err)
			}
		}
		if err := p.Close(); !errors.Is(err, report.ErrPageFull) {
			t.Errorf("Close = %v", err)
		}
	})
}
