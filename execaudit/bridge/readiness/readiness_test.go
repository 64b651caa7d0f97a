package readiness_test

import (
	"errors"
	"maps"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/lanyard-dev/lanyard/execaudit/bridge/readiness"
)

var since = time.Date(2026, 11, 22, 10, 0, 0, 123456789, time.UTC)

func node() readiness.Readiness {
	return readiness.Readiness{
		Version: "v0.1.0",
		Keys:    []string{"new", "old"},
		Handlers: map[string]readiness.Handler{
			readiness.DefaultHandler: {Since: since, Mode: readiness.ModeDropIn, Mark: "sessions"},
			"bound":                  {Since: since, Mode: readiness.ModeBind},
		},
	}
}

func TestAnnotations(t *testing.T) {
	t.Run("BRG-13 what a node says reads back the same", func(t *testing.T) {
		got, err := readiness.Parse(node().Annotations())
		if err != nil || !reflect.DeepEqual(got, node()) {
			t.Fatalf("Parse(Annotations()) = %+v, %v, want %+v", got, err, node())
		}
	})
	t.Run("BRG-13 the annotations are these", func(t *testing.T) {
		want := map[string]string{
			"bridge.lanyard.dev/version": "v0.1.0",
			"bridge.lanyard.dev/keys":    "new,old",
			"bridge.lanyard.dev/handlers": `{"":{"since":"2026-11-22T10:00:00.123456789Z","mode":"drop-in","mark":"sessions"},` +
				`"bound":{"since":"2026-11-22T10:00:00.123456789Z","mode":"bind"}}`,
		}
		if got := node().Annotations(); !maps.Equal(got, want) {
			t.Fatalf("Annotations() = %v, want %v", got, want)
		}
	})
	t.Run("BRG-13 a lease without annotations says nothing", func(t *testing.T) {
		got, err := readiness.Parse(map[string]string{"other": "x"})
		if err != nil || got.Handlers != nil || got.Keys != nil {
			t.Fatalf("Parse = %+v, %v, want nothing", got, err)
		}
	})
	for name, bad := range map[string]map[string]string{
		"no JSON":                {readiness.AnnotationHandlers: "{"},
		"a list":                 {readiness.AnnotationHandlers: "[]"},
		"text behind the object": {readiness.AnnotationHandlers: "{} x"},
		"a handler of null":      {readiness.AnnotationHandlers: `{"":null}`},
		"no time":                {readiness.AnnotationHandlers: `{"":{"mode":"bind"}}`},
		"no mode":                {readiness.AnnotationHandlers: `{"":{"since":"2026-11-22T10:00:00Z"}}`},
		"a time that is none":    {readiness.AnnotationHandlers: `{"":{"since":"yesterday","mode":"bind"}}`},
		"too long":               {readiness.AnnotationHandlers: `{}` + strings.Repeat(" ", readiness.MaxHandlersBytes)},
		"an empty key ID":        {readiness.AnnotationKeys: "a,,b"},
		"too many keys":          {readiness.AnnotationKeys: strings.Repeat("a,", readiness.MaxKeys) + "a"},
	} {
		t.Run("BRG-13 malformed: "+name, func(t *testing.T) {
			var fault *readiness.Fault
			if _, err := readiness.Parse(bad); !errors.Is(err, readiness.ErrMalformed) || !errors.As(err, &fault) {
				t.Fatalf("Parse(%v) = %v, want a fault", bad, err)
			}
		})
	}
}

func TestCovers(t *testing.T) {
	now := since.Add(time.Hour)
	lease := func(change ...func(*readiness.Lease)) *readiness.Lease {
		l := &readiness.Lease{Readiness: node(), Renewed: now.Add(-10 * time.Second), Duration: 40 * time.Second}
		for _, c := range change {
			c(l)
		}
		return l
	}
	young := readiness.Container{PodStarted: since.Add(time.Minute), Started: since.Add(2 * time.Minute)}
	keys := []string{"new", "old"}
	for _, test := range []struct {
		name      string
		lease     *readiness.Lease
		container readiness.Container
		keys      []string
		key       string
		err       error
	}{
		{"a container younger than the wrapper", lease(), young, keys, "new", nil},
		{"BRG-2 a node that has only the old key", lease(func(l *readiness.Lease) { l.Readiness.Keys = []string{"old"} }), young, keys, "old", nil},
		{"BRG-2 a node without any of the keys", lease(), young, []string{"other"}, "", readiness.ErrNoKey},
		{"no key at all", lease(), young, nil, "", readiness.ErrNoKey},
		{"BRG-5 no lease", nil, young, keys, "", readiness.ErrNoLease},
		{"BRG-5 a stale lease", lease(func(l *readiness.Lease) { l.Renewed = now.Add(-40 * time.Second) }), young, keys, "", readiness.ErrStale},
		{"BRG-6 a node whose clock is ahead", lease(func(l *readiness.Lease) { l.Renewed = now.Add(time.Minute) }), young, keys, "", readiness.ErrAhead},
		{"BRG-6 a clock ahead within the duration", lease(func(l *readiness.Lease) { l.Renewed = now.Add(20 * time.Second) }), young, keys, "new", nil},
		{"a handler without the wrapper", lease(), readiness.Container{Handler: "kata", PodStarted: young.PodStarted, Started: young.Started}, keys, "", readiness.ErrInactive},
		{"BRG-11 a pod from before", lease(), readiness.Container{PodStarted: since.Add(-time.Hour), Started: young.Started}, keys, "", readiness.ErrOlder},
		{"BRG-11 a static pod whose start time is new", lease(), readiness.Container{PodStarted: young.PodStarted, Started: since.Add(-time.Hour)}, keys, "", readiness.ErrOlder},
		{"BRG-11 a pod from before under a bind mount", lease(), readiness.Container{Handler: "bound"}, keys, "new", nil},
		{"a pod whose start is not known", lease(), readiness.Container{}, keys, "", readiness.ErrOlder},
		{"a pod as old as the wrapper", lease(), readiness.Container{PodStarted: since, Started: since}, keys, "", readiness.ErrOlder},
		{"a pod younger by the margin", lease(), readiness.Container{PodStarted: since.Add(readiness.Margin), Started: since.Add(readiness.Margin)}, keys, "new", nil},
	} {
		t.Run("BRG-13 "+test.name, func(t *testing.T) {
			key, err := test.lease.Covers(test.container, test.keys, now)
			if key != test.key || !errors.Is(err, test.err) {
				t.Fatalf("Covers = %q, %v, want %q, %v", key, err, test.key, test.err)
			}
		})
	}
}
