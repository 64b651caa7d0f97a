package report_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/lanyard-dev/lanyard/execaudit/attribution"
	"github.com/lanyard-dev/lanyard/execaudit/attribution/report"
)

// pageEvents is how many events the pages of these tests show.
const pageEvents = 10_000

// pageOf writes a page of so many sessions of ten users, with one event in a hundred forged, and returns its path.
func pageOf(t *testing.T, sessions int) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "page.html")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	p := report.NewPage(f)
	for i := range pageEvents {
		a := sample(attribution.VerdictCorroborated)
		who := a.Session
		if i/sessions%100 == 99 {
			a = sample(attribution.VerdictConflicting)
			who = a.Claims[0]
		}
		a.AuditID = fmt.Sprintf("id-%d", i%sessions)
		who.AuditID, who.User.Name = a.AuditID, fmt.Sprintf("user-%d", i%sessions%10)
		if a.Claims != nil {
			a.Reason, who.AuditID, who.User.Name = attribution.ReasonSpoofed, "id-victim", "victim"
		}
		a.Event.Time, a.Event.Process.ExecID = at.Add(time.Duration(i)*time.Millisecond), fmt.Sprintf("e-%d", i)
		if err := p.Add(a); err != nil {
			t.Fatal(err)
		}
	}
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

// mostPerTask is how many elements the page may make before the browser gets a turn, whatever it shows.
const mostPerTask = 2000

// watch counts the elements that each task of a page makes and the places it paints, before any of its own scripts run.
const watch = `{
	window.work = {all: 0, most: 0, now: 0, strokes: 0};
	const end = () => { work.most = Math.max(work.most, work.now); work.now = 0; };
	const task = f => function (...args) { end(); try { return f.apply(this, args); } finally { end(); } };
	const make = document.createElement;
	document.createElement = function (...args) { work.all++; work.now++; return make.apply(this, args); };
	const stroke = CanvasRenderingContext2D.prototype.fillRect;
	CanvasRenderingContext2D.prototype.fillRect = function (...args) { work.strokes++; return stroke.apply(this, args); };
	const next = window.requestAnimationFrame;
	window.requestAnimationFrame = f => next.call(window, task(f));
	const listen = EventTarget.prototype.addEventListener;
	EventTarget.prototype.addEventListener = function (kind, f, ...rest) { return listen.call(this, kind, task(f), ...rest); };
}`

// settled is done when the page has nothing left to draw.
const settled = `new Promise(done => (function look() {
	document.readyState === "complete" && document.querySelector("main").ariaBusy === "false" ? done(true) : setTimeout(look, 10);
})())`

func (b *browser) visit(path string) {
	b.t.Helper()
	b.call("Page.navigate", map[string]any{"url": "file://" + path}, nil)
	b.eval(nil, settled)
}

// seen is what a person sees of the page.
type seen struct {
	Count    string
	Sessions int
	Rows     int
	Users    []string // without repeats
}

func (b *browser) look() (s seen) {
	b.t.Helper()
	b.eval(&s, settled+`.then(() => ({
		count: document.querySelector("output").textContent,
		sessions: document.querySelectorAll(".lane").length,
		rows: document.querySelectorAll(".event:not(.titles)").length,
		users: [...new Set([...document.querySelectorAll(".user")].map(e => e.textContent))].sort(),
	}))`)
	return s
}

func TestPageInBrowser(t *testing.T) {
	if testing.Short() {
		t.Skip("a browser takes seconds")
	}
	b := openBrowser(t)
	b.call("Page.addScriptToEvaluateOnNewDocument", map[string]any{"source": watch}, nil)
	b.visit(pageOf(t, 100))
	t.Run("ATT-9 every session is visible, one in its own time beside the others", func(t *testing.T) {
		b.t = t
		if s := b.look(); s.Count != "10000 events, 100 sessions" || s.Sessions != 100 || len(s.Users) != 10 {
			t.Errorf("the page shows %+v", s)
		}
		var lanes []struct{ Height, Bar float64 }
		b.eval(&lanes, `[...document.querySelectorAll(".lane")].map(e => ({
			height: e.getBoundingClientRect().height, bar: e.querySelector(".bar").getBoundingClientRect().width}))`)
		for i, lane := range lanes {
			if lane.Height < 20 || lane.Bar < 2 {
				t.Errorf("session %d is %.0f pixels high, its bar %.1f wide", i, lane.Height, lane.Bar)
			}
		}
	})
	t.Run("ATT-5 ATT-9 a forgery is marked by a word, a sign and a colour, and its name is a claim", func(t *testing.T) {
		b.t = t
		b.click(`[data-session="id-3"] button`)
		var row struct{ Text, Background, Fact string }
		b.eval(&row, settled+`.then(() => {
			const forged = document.querySelectorAll(".event:not(.titles)")[99], word = e => getComputedStyle(e.querySelector(".verdict")).backgroundColor;
			return {text: forged.innerText, background: word(forged), fact: word(document.querySelector(".event:not(.titles)"))};
		})`)
		for _, want := range []string{"✗ conflicting", "(victim?)", string(attribution.ReasonSpoofed)} {
			if !strings.Contains(row.Text, want) {
				t.Errorf("the forged row reads %q, without %q", row.Text, want)
			}
		}
		if row.Background == row.Fact {
			t.Errorf("a forgery and a fact both have the colour %s", row.Fact)
		}
	})
	t.Run("ATT-9 ATT-10 typing a user's name leaves that user's sessions, and emptying the field brings all back", func(t *testing.T) {
		b.t = t
		b.write("#user", "user-3")
		if s := b.look(); s.Count != "1000 events, 10 sessions" || s.Sessions != 10 || fmt.Sprint(s.Users) != "[user-3]" {
			t.Errorf("the page shows %+v", s)
		}
		b.write("#user", "victim")
		if s := b.look(); s.Count != "100 events, 100 sessions" {
			t.Errorf("the page shows %+v of whom is only claimed", s)
		}
		b.write("#user", "nobody at all")
		if s := b.look(); s.Sessions != 0 {
			t.Errorf("the page shows %+v", s)
		}
		b.eval(nil, `document.querySelector("#user").value = ""; document.querySelector("#user").dispatchEvent(new Event("input"))`)
		if s := b.look(); s.Sessions != 100 {
			t.Errorf("the page shows %+v", s)
		}
	})
	t.Run("ATT-9 unticking a verdict hides it", func(t *testing.T) {
		b.t = t
		b.click("#verdict-corroborated")
		if s := b.look(); s.Count != "100 events, 100 sessions" {
			t.Errorf("the page shows %+v", s)
		}
	})
	t.Run("ATT-9 ATT-13 a fact whose process claims another's ID says so, and is found by that name", func(t *testing.T) {
		b.t = t
		path := filepath.Join(t.TempDir(), "page.html")
		f, err := os.Create(path)
		if err != nil {
			t.Fatal(err)
		}
		p := report.NewPage(f)
		if err := errors.Join(p.Add(spoofed()), p.Close(), f.Close()); err != nil {
			t.Fatal(err)
		}
		b.visit(path + "#user=alice&session=id-m")
		var row string
		b.eval(&row, settled+`.then(() => document.querySelector(".event:not(.titles)").innerText)`)
		if s := b.look(); s.Count != "1 events, 1 sessions" || fmt.Sprint(s.Users) != "[mallory]" || !strings.Contains(row, "✓ corroborated") ||
			!strings.Contains(row, "(alice?): "+string(attribution.ReasonKernelSpoofed)) {
			t.Errorf("the page shows %+v, row %q", s, row)
		}
	})
	t.Run("ATT-9 ATT-10 a link opens the page at a user and a session", func(t *testing.T) {
		b.t = t
		b.call("Page.navigate", map[string]any{"url": "about:blank"}, nil)
		b.visit(pageOf(t, 100) + "#user=user-3&session=id-13")
		if s := b.look(); s.Sessions != 10 || s.Rows != 100 {
			t.Errorf("the page shows %+v", s)
		}
	})
	for _, c := range []struct {
		name     string
		sessions int
	}{
		{"ATT-9 ten thousand events in one session", 1},
		{"ATT-9 ten thousand sessions of one event", pageEvents},
	} {
		t.Run(c.name+" are drawn in pieces, between which the browser answers", func(t *testing.T) {
			b.t = t
			b.visit(pageOf(t, c.sessions))
			b.click(".lane button")
			s := b.look()
			b.write("#user", "user-0")
			filtered := b.look()
			var work struct{ All, Most, Strokes int }
			b.eval(&work, `work`)
			if s.Sessions != c.sessions || s.Rows != pageEvents/c.sessions || filtered.Count == s.Count && c.sessions > 1 {
				t.Errorf("the page shows %+v, filtered %+v", s, filtered)
			}
			if work.All < pageEvents || work.Most > mostPerTask || work.Strokes > 3*max(c.sessions, 1280) {
				t.Errorf("%+v, want no task that makes over %d elements", work, mostPerTask)
			}
		})
	}
}
