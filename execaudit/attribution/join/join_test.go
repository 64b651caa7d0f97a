package join_test

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/lanyard-dev/lanyard/execaudit/attribution"
	"github.com/lanyard-dev/lanyard/execaudit/attribution/join"
	"github.com/lanyard-dev/lanyard/execaudit/attribution/lines"
)

var dawn = time.Date(2026, 11, 21, 4, 0, 0, 0, time.UTC)

func stamp(ms int) string {
	return dawn.Add(time.Duration(ms) * time.Millisecond).Format(time.RFC3339Nano)
}

// logs returns the lines of n sessions of n users on three nodes, each with a child: the audit log's, the journals' and the
// events'.
func logs(n int) (audit, journal, events []string) {
	for i := range n {
		ms := i * 700
		for _, stage := range []string{"RequestReceived", "ResponseStarted"} {
			audit = append(audit, fmt.Sprintf(`{"kind":"Event","apiVersion":"audit.k8s.io/v1","auditID":"id-%d","stage":"%s","requestURI":"/exec?container=app","user":{"username":"user-%d"},"objectRef":{"resource":"pods","namespace":"shop","name":"web","subresource":"exec"},"requestReceivedTimestamp":"%s","stageTimestamp":"%s"}`, i, stage, i, stamp(ms), stamp(ms)))
		}
		journal = append(journal, fmt.Sprintf(`{"version":1,"kind":"start","time":"%s","node":"n%d","containerID":"8762eafc25a35ab90089","execID":"exec-%d","auditID":"id-%d","namespace":"shop","pod":"web","container":"app","pid":10,"startTicks":%d,"bootID":"b"}`, stamp(ms+10), i%3, i, i, i*2+10))
		events = append(events,
			fmt.Sprintf(`{"version":1,"event":"exec","time":"%s","node":"n%d","containerID":"8762eafc25a3","namespace":"shop","pod":"web","process":{"pid":10,"startTicks":%d,"bootID":"b"},"auditID":"id-%d"}`, stamp(ms+20), i%3, i*2+10, i),
			fmt.Sprintf(`{"version":1,"event":"fork","time":"%s","node":"n%d","containerID":"8762eafc25a3","process":{"pid":11,"startTicks":%d,"bootID":"b"},"parent":{"pid":10,"startTicks":%d,"bootID":"b"}}`, stamp(ms+30), i%3, i*2+11, i*2+10))
	}
	return audit, journal, events
}

func opener(text string) lines.Opener {
	return lines.Opener{Name: "x", Open: func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(text)), nil }}
}

// source is one log in the files given.
func source(files ...[]string) *lines.Source {
	s := &lines.Source{}
	for _, file := range files {
		s.Files = append(s.Files, opener(strings.Join(file, "\n")))
	}
	return s
}

// named is the sorted answers of one run.
type named struct{ list []string }

func (n *named) add(a *attribution.Answer) {
	user := "-"
	if a.Session != nil {
		user = a.Session.User.Name
	}
	n.list = append(n.list, fmt.Sprint(a.Event.Time, a.Event.Process, a.Verdict, user))
}

func (n *named) sorted() string {
	slices.Sort(n.list)
	return strings.Join(n.list, "\n")
}

// right is what logs(n) has to give.
func right(n int) string {
	var want named
	for i := range n {
		for k, ms := range []int{20, 30} {
			want.list = append(want.list, fmt.Sprint(dawn.Add(time.Duration(i*700+ms)*time.Millisecond), attribution.Process{PID: 10 + k, StartTicks: uint64(i*2 + 10 + k), BootID: "b"}, attribution.VerdictCorroborated, fmt.Sprintf("user-%d", i)))
		}
	}
	return want.sorted()
}

func TestFiles(t *testing.T) {
	t.Run("ATT-6 the same events cut into files and sources in any way give the same answers", func(t *testing.T) {
		rapid.Check(t, func(t *rapid.T) {
			n := rapid.IntRange(1, 60).Draw(t, "sessions")
			audit, journal, events := logs(n)
			random := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "cut"), 1))
			sources := make([]*lines.Source, rapid.IntRange(1, 5).Draw(t, "sources"))
			for i := range sources {
				sources[i] = &lines.Source{}
			}
			for _, log := range [][]string{audit, journal, events} {
				for len(log) > 0 {
					size := 1 + random.IntN(len(log))
					s := sources[random.IntN(len(sources))]
					s.Files = append(s.Files, opener(strings.Join(log[:size], "\n")))
					log = log[size:]
				}
			}
			var got named
			m := attribution.New(attribution.Options{Window: attribution.Forever}, got.add)
			if err := join.Files(context.Background(), m, sources, join.Trouble{Fault: func(f *lines.Fault) { t.Error(f) }}); err != nil {
				t.Fatal(err)
			}
			if got.sorted() != right(n) {
				t.Fatalf("answers\n%s\nwant\n%s", got.sorted(), right(n))
			}
		})
	})
	t.Run("ATT-6 logs of hours are joined side by side within a window of seconds", func(t *testing.T) {
		const n = 3000 // 35 minutes
		audit, journal, events := logs(n)
		var got named
		m := attribution.New(attribution.Options{}, got.add)
		sources := []*lines.Source{source(audit), source(journal), source(events)}
		if err := join.Files(context.Background(), m, sources, join.Trouble{}); err != nil {
			t.Fatal(err)
		}
		if s := m.Stats(); got.sorted() != right(n) || s.Late != 0 || s.PeakBytes > 8<<20 {
			t.Errorf("%d answers, %+v", len(got.list), s)
		}
	})
	t.Run("a context that is done ends it", func(t *testing.T) {
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		audit, _, _ := logs(5)
		m := attribution.New(attribution.Options{}, func(*attribution.Answer) {})
		if err := join.Files(ctx, m, []*lines.Source{{Files: []lines.Opener{opener(audit[0])}}}, join.Trouble{}); err == nil {
			t.Error("Files = nil")
		}
	})
}

func TestLive(t *testing.T) {
	t.Run("ATT-3 ATT-6 sources that come as they like are answered, those that catch up are waited for", func(t *testing.T) {
		const n = 50
		audit, journal, events := logs(n)
		ticks := make(chan time.Time, 3)
		for i := range 3 {
			ticks <- dawn.Add(time.Duration(i) * 20 * time.Second)
		}
		var got named
		m := attribution.New(attribution.Options{Window: time.Hour}, got.add)
		var sources []<-chan *lines.Batch
		for _, log := range [][]string{events, journal, audit} {
			sources = append(sources, (&lines.Source{Files: []lines.Opener{opener(strings.Join(log, "\n"))}, Live: true}).Read(context.Background()))
		}
		join.Live(context.Background(), m, sources, ticks, join.Trouble{})
		if got.sorted() != right(n) {
			t.Errorf("answers\n%s", got.sorted())
		}
	})
}
