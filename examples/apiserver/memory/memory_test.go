package memory_test

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/apiserver/pkg/storage"

	"github.com/lanyard-dev/lanyard/examples/apiserver/memory"
)

// store is a Storage of config maps with the calls that tests make.
type store struct {
	*memory.Storage
}

func newStore(o memory.Options) store {
	return store{memory.New(o).Storage("cm", func() runtime.Object { return &corev1.ConfigMap{} })}
}

func key(name string) string { return "cm/ns/" + name }

func (s store) create(name, value string, ttl uint64) error {
	return s.Create(context.Background(), key(name), object(name, value), nil, ttl)
}

func object(name, value string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"v": value}}, Data: map[string]string{"v": value}}
}

func (s store) update(name, value string) error {
	return s.GuaranteedUpdate(context.Background(), key(name), &corev1.ConfigMap{}, false, nil,
		storage.SimpleUpdate(func(o runtime.Object) (runtime.Object, error) {
			m := o.(*corev1.ConfigMap)
			m.Labels, m.Data = map[string]string{"v": value}, map[string]string{"v": value}
			return m, nil
		}), nil)
}

func (s store) delete(name string) error {
	return s.Delete(context.Background(), key(name), &corev1.ConfigMap{}, nil, storage.ValidateAllObjectFunc, nil, storage.DeleteOptions{})
}

func options(resourceVersion, label string) storage.ListOptions {
	selector := labels.Everything()
	if label != "" {
		selector = labels.SelectorFromSet(labels.Set{"v": label})
	}
	return storage.ListOptions{ResourceVersion: resourceVersion, Recursive: true, Predicate: storage.SelectionPredicate{
		Label: selector, Field: fields.Everything(), AllowWatchBookmarks: true,
		GetAttrs: func(o runtime.Object) (labels.Set, fields.Set, error) { return o.(*corev1.ConfigMap).Labels, nil, nil },
	}}
}

func (s store) list(t testing.TB, label string) *corev1.ConfigMapList {
	t.Helper()
	var list corev1.ConfigMapList
	if err := s.GetList(context.Background(), "cm/ns", options("", label), &list); err != nil {
		t.Fatal(err)
	}
	return &list
}

func (s store) watch(t testing.TB, o storage.ListOptions) watch.Interface {
	t.Helper()
	w, err := s.Watch(context.Background(), "cm/ns", o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.Stop)
	return w
}

// expect reads events, each written as type, name and value.
func expect(t testing.TB, w watch.Interface, want ...string) {
	t.Helper()
	for _, wanted := range want {
		select {
		case e := <-w.ResultChan():
			m, _ := e.Object.(*corev1.ConfigMap)
			if got := fmt.Sprint(e.Type, " ", m.GetName(), " ", m.Data["v"]); got != wanted {
				t.Fatalf("event %q, want %q", got, wanted)
			}
		case <-time.After(5 * time.Second):
			t.Fatalf("no event %q", wanted)
		}
	}
}

func TestStorage(t *testing.T) {
	t.Run("STK-4 create twice, get, delete twice", func(t *testing.T) {
		s := newStore(memory.Options{})
		if err := errors.Join(s.create("a", "1", 0)); err != nil {
			t.Fatal(err)
		}
		if err := s.create("a", "2", 0); !storage.IsExist(err) {
			t.Errorf("second create = %v", err)
		}
		var got corev1.ConfigMap
		if err := s.Get(t.Context(), key("a"), storage.GetOptions{}, &got); err != nil || got.Data["v"] != "1" {
			t.Errorf("get = %v, %v", got.Data, err)
		}
		if err := s.delete("a"); err != nil {
			t.Fatal(err)
		}
		if err := s.delete("a"); !storage.IsNotFound(err) {
			t.Errorf("second delete = %v", err)
		}
	})
	t.Run("STK-4 what goes in and comes out is a copy", func(t *testing.T) {
		s := newStore(memory.Options{})
		in := object("a", "1")
		var out corev1.ConfigMap
		if err := s.Create(t.Context(), key("a"), in, &out, 0); err != nil {
			t.Fatal(err)
		}
		in.Data["v"], out.Data["v"] = "changed", "changed"
		if got := s.list(t, "").Items[0].Data["v"]; got != "1" {
			t.Errorf("stored value = %s", got)
		}
	})
	t.Run("STK-4 an update that changes nothing makes no revision", func(t *testing.T) {
		s := newStore(memory.Options{})
		_ = s.create("a", "1", 0)
		before := s.list(t, "").ResourceVersion
		if err := s.update("a", "1"); err != nil || s.list(t, "").ResourceVersion != before {
			t.Errorf("update = %v, revision moved", err)
		}
	})
	t.Run("STK-4 concurrent updates lose none", func(t *testing.T) {
		s := newStore(memory.Options{})
		_ = s.create("a", "0", 0)
		var all sync.WaitGroup
		for range 50 {
			all.Go(func() {
				_ = s.GuaranteedUpdate(context.Background(), key("a"), &corev1.ConfigMap{}, false, nil,
					storage.SimpleUpdate(func(o runtime.Object) (runtime.Object, error) {
						m := o.(*corev1.ConfigMap)
						n, err := strconv.Atoi(m.Data["v"])
						m.Data["v"] = strconv.Itoa(n + 1)
						return m, err
					}), nil)
			})
		}
		all.Wait()
		if got := s.list(t, "").Items[0].Data["v"]; got != "50" {
			t.Errorf("value = %s after 50 increments", got)
		}
	})
	t.Run("STK-4 objects with a time to live go", func(t *testing.T) {
		now := time.Unix(0, 0)
		s := newStore(memory.Options{Now: func() time.Time { return now }})
		_ = s.create("short", "1", 1)
		for _, step := range []struct {
			after time.Duration
			left  int
		}{{time.Second - 1, 1}, {1, 0}} {
			now = now.Add(step.after)
			_ = s.create(now.String(), "2", 0) // writes are when what is due is removed
			if left := s.list(t, "1").Items; len(left) != step.left {
				t.Errorf("%v after the epoch are left: %v, want %d", now.Sub(time.Unix(0, 0)), left, step.left)
			}
		}
	})
	t.Run("STK-4 a revision of the future is refused", func(t *testing.T) {
		s := newStore(memory.Options{})
		future := strconv.FormatInt(time.Now().Add(time.Hour).UnixMicro(), 10)
		err := s.GetList(t.Context(), "cm", options(future, ""), &corev1.ConfigMapList{})
		if !storage.IsTooLargeResourceVersion(err) {
			t.Errorf("list = %v", err)
		}
	})
}

func TestWatch(t *testing.T) {
	t.Run("STK-5 an object enters and leaves a selection", func(t *testing.T) {
		s := newStore(memory.Options{})
		w := s.watch(t, options(s.list(t, "").ResourceVersion, "in"))
		_ = s.create("a", "out", 0)
		_ = s.update("a", "in")
		_ = s.update("a", "out")
		_ = s.update("a", "in")
		_ = s.delete("a")
		expect(t, w, "ADDED a in", "DELETED a in", "ADDED a in", "DELETED a in")
	})
	t.Run("STK-5 a watch from no revision begins with what is there", func(t *testing.T) {
		s := newStore(memory.Options{})
		_ = s.create("b", "1", 0)
		_ = s.create("a", "1", 0)
		w := s.watch(t, options("", ""))
		expect(t, w, "ADDED a 1", "ADDED b 1")
		_ = s.update("b", "2")
		expect(t, w, "MODIFIED b 2")
	})
	t.Run("STK-5 initial events end with a marked bookmark", func(t *testing.T) {
		s := newStore(memory.Options{})
		_ = s.create("a", "1", 0)
		o, yes := options("", ""), true
		o.SendInitialEvents = &yes
		w := s.watch(t, o)
		expect(t, w, "ADDED a 1")
		bookmark := <-w.ResultChan()
		marked, err := storage.HasInitialEventsEndBookmarkAnnotation(bookmark.Object)
		if bookmark.Type != watch.Bookmark || !marked || err != nil {
			t.Errorf("event = %v, marked %v, %v", bookmark.Type, marked, err)
		}
	})
	t.Run("STK-5 a quiet watch gets bookmarks with the newest revision", func(t *testing.T) {
		s := newStore(memory.Options{BookmarkPeriod: time.Millisecond})
		_ = s.create("a", "out", 0)
		w := s.watch(t, options(s.list(t, "").ResourceVersion, "in"))
		_ = s.update("a", "still out")
		want := s.list(t, "").ResourceVersion
		for e := range w.ResultChan() {
			if got := e.Object.(*corev1.ConfigMap).ResourceVersion; e.Type == watch.Bookmark && got == want {
				return
			}
		}
		t.Error("the watch ended")
	})
	t.Run("STK-5 who comes too late is told so", func(t *testing.T) {
		s := newStore(memory.Options{})
		_ = s.create("a", "0", 0)
		old := s.list(t, "").ResourceVersion
		for i := range 3 * memory.MaxHistory {
			_ = s.update("a", strconv.Itoa(i))
		}
		if _, err := s.Watch(t.Context(), "cm", options(old, "")); !apierrors.IsResourceExpired(err) {
			t.Errorf("watch = %v, want 410", err)
		}
	})
	t.Run("STK-5 a watch that is stopped or cancelled closes its channel", func(t *testing.T) {
		s := newStore(memory.Options{})
		stopped := s.watch(t, options("", ""))
		stopped.Stop()
		stopped.Stop()
		ctx, cancel := context.WithCancel(t.Context())
		cancelled, err := s.Watch(ctx, "cm", options("", ""))
		if err != nil {
			t.Fatal(err)
		}
		cancel()
		for range stopped.ResultChan() {
		}
		for range cancelled.ResultChan() {
		}
	})
}
