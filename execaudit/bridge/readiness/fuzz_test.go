package readiness_test

import (
	"reflect"
	"testing"

	"github.com/lanyard-dev/lanyard/execaudit/bridge/readiness"
)

func FuzzParse(f *testing.F) {
	seed := node().Annotations()
	f.Add(seed[readiness.AnnotationKeys], seed[readiness.AnnotationHandlers])
	f.Add("", "")
	f.Add(",", "{}")
	f.Add("a", `{"":{"since":"0000-01-01T00:00:00+23:59","mode":"x"}}`)
	f.Add("a", `{"":{"since":"9999-12-31T23:59:59-23:59","mode":"x"}}`)
	f.Fuzz(func(t *testing.T, keys, handlers string) {
		r, err := readiness.Parse(map[string]string{readiness.AnnotationKeys: keys, readiness.AnnotationHandlers: handlers})
		if err != nil {
			return
		}
		for _, h := range r.Handlers {
			if y := h.Since.Year(); y < 0 || y > 9999 {
				return // in UTC no JSON has it
			}
		}
		again, err := readiness.Parse(r.Annotations())
		if r.Handlers == nil {
			r.Handlers = map[string]readiness.Handler{}
		}
		if err != nil || !reflect.DeepEqual(again, r) {
			t.Fatalf("Parse(Annotations()) = %+v, %v, want %+v", again, err, r)
		}
	})
}
