package readiness_test

import (
	"reflect"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/lanyard-dev/lanyard/execaudit/bridge/readiness"
)

func drawTime(t *rapid.T, label string) time.Time {
	return time.Unix(rapid.Int64Range(1, 200).Draw(t, label), rapid.Int64Range(0, 999_999_999).Draw(t, label+"Nanos")).UTC()
}

func drawReadiness(t *rapid.T) readiness.Readiness {
	key := rapid.StringMatching(`[a-c]{1,2}`)
	r := readiness.Readiness{Version: rapid.String().Draw(t, "version"), Handlers: map[string]readiness.Handler{}}
	if keys := rapid.SliceOfN(key, 0, 4).Draw(t, "keys"); len(keys) > 0 {
		r.Keys = keys
	}
	modes := rapid.SampledFrom([]readiness.Mode{readiness.ModeBind, readiness.ModeDropIn, readiness.ModeRuntimeClass})
	for _, name := range rapid.SliceOfN(rapid.SampledFrom([]string{"", "runc", "kata"}), 0, 3).Draw(t, "handlers") {
		r.Handlers[name] = readiness.Handler{
			Since: drawTime(t, "since"), Mode: modes.Draw(t, "mode"), Mark: rapid.SampledFrom([]string{"", "sessions"}).Draw(t, "mark"),
		}
	}
	return r
}

func TestLaws(t *testing.T) {
	t.Run("BRG-13 round trip", rapid.MakeCheck(func(t *rapid.T) {
		want := drawReadiness(t)
		got, err := readiness.Parse(want.Annotations())
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Fatalf("Parse(Annotations()) = %+v, %v, want %+v", got, err, want)
		}
	}))
	t.Run("BRG-13 what is covered was promised by the node", rapid.MakeCheck(func(t *rapid.T) {
		l := &readiness.Lease{
			Readiness: drawReadiness(t), Renewed: drawTime(t, "renewed"),
			Duration: time.Duration(rapid.Int64Range(0, 60).Draw(t, "seconds")) * time.Second,
		}
		c := readiness.Container{
			Handler:    rapid.SampledFrom([]string{"", "runc", "kata"}).Draw(t, "handler"),
			PodStarted: drawTime(t, "podStarted"), Started: drawTime(t, "started"),
		}
		keys := rapid.SliceOfN(rapid.StringMatching(`[a-c]{1,2}`), 0, 3).Draw(t, "mine")
		now := drawTime(t, "now")
		key, err := l.Covers(c, keys, now)
		if (key == "") != (err != nil) {
			t.Fatalf("Covers = %q, %v: want a key or an error", key, err)
		}
		if err != nil {
			return
		}
		h, ok := l.Readiness.Handlers[c.Handler]
		if !ok || !slices.Contains(l.Readiness.Keys, key) || !slices.Contains(keys, key) || now.Sub(l.Renewed) >= l.Duration {
			t.Fatalf("Covers = %q for %+v in %+v", key, c, l)
		}
		if h.Mode != readiness.ModeBind && (c.Started.Before(h.Since) || c.PodStarted.Before(h.Since)) {
			t.Fatalf("Covers = %q for a container older than %v: %+v", key, h.Since, c)
		}
	}))
	t.Run("BRG-13 a container that is covered stays so while the lease is as fresh", rapid.MakeCheck(func(t *rapid.T) {
		l := &readiness.Lease{Readiness: drawReadiness(t), Renewed: drawTime(t, "renewed"), Duration: time.Minute}
		c := readiness.Container{PodStarted: drawTime(t, "podStarted"), Started: drawTime(t, "started")}
		now := drawTime(t, "now")
		if _, err := l.Covers(c, l.Readiness.Keys, now); err != nil {
			return
		}
		c.Started = c.Started.Add(time.Duration(rapid.Int64Range(0, 1e12).Draw(t, "restarted")))
		if _, err := l.Covers(c, l.Readiness.Keys, now); err != nil {
			t.Fatalf("after a restart of the container: %v", err)
		}
	}))
}
