package memory_test

import (
	"fmt"
	"maps"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/watch"
	"pgregory.net/rapid"

	"github.com/lanyard-dev/lanyard/examples/apiserver/memory"
)

// TestReplay holds the law that informers live by: a list at some moment, changed by the events of a watch from its
// revision, is the list at any later moment. Both select by label, and objects move in and out of the selection.
func TestReplay(t *testing.T) {
	t.Run("STK-5 list and watch agree with a later list", func(t *testing.T) {
		rapid.Check(t, func(rt *rapid.T) {
			s := newStore(memory.Options{})
			change := func(label string) {
				for i := range rapid.IntRange(0, 30).Draw(rt, label) {
					name := rapid.SampledFrom([]string{"a", "b", "c"}).Draw(rt, fmt.Sprint(label, i))
					switch value := rapid.SampledFrom([]string{"in", "out"}).Draw(rt, "value"); rapid.IntRange(0, 2).Draw(rt, "do") {
					case 0:
						_ = s.create(name, value, 0)
					case 1:
						_ = s.update(name, value)
					case 2:
						_ = s.delete(name)
					}
				}
			}
			change("before")
			list := s.list(t, "in")
			seen := map[string]string{}
			for _, m := range list.Items {
				seen[m.Name] = m.ResourceVersion
			}
			w := s.watch(t, options(list.ResourceVersion, "in"))
			defer w.Stop()
			change("after")
			_ = s.delete("last")
			_ = s.create("last", "in", 0)
			for e := range w.ResultChan() {
				apply(seen, e)
				if e.Object.(*corev1.ConfigMap).Name == "last" {
					break
				}
			}
			want := map[string]string{}
			for _, m := range s.list(t, "in").Items {
				want[m.Name] = m.ResourceVersion
			}
			if !maps.Equal(seen, want) {
				rt.Errorf("replayed %v, listed %v", seen, want)
			}
		})
	})
}

func apply(seen map[string]string, e watch.Event) {
	m := e.Object.(*corev1.ConfigMap)
	if e.Type == watch.Deleted {
		delete(seen, m.Name)
		return
	}
	seen[m.Name] = m.ResourceVersion
}
