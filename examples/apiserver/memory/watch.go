package memory

import (
	"context"
	"errors"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/apiserver/pkg/storage"
)

// Watch implements storage.Interface. The watch reads the resource's history at its own pace and holds nothing but its
// place in it; one that falls behind further than [MaxHistory] ends with 410 Gone.
func (s *Storage) Watch(ctx context.Context, key string, opts storage.ListOptions) (watch.Interface, error) {
	at, err := s.ParseResourceVersion(opts.ResourceVersion)
	if err != nil {
		return nil, err
	}
	w := &watcher{
		storage: s, opts: opts, selects: selects(key, opts.Recursive), at: at,
		result: make(chan watch.Event), stopped: make(chan struct{}),
	}
	initial, err := w.start()
	if err != nil {
		return nil, err
	}
	go w.run(ctx, initial)
	return w, nil
}

// watcher is one watch. run alone uses at.
type watcher struct {
	storage *Storage
	opts    storage.ListOptions
	selects func(key string) bool
	at      uint64

	result  chan watch.Event
	once    sync.Once
	stopped chan struct{}
}

// ResultChan implements watch.Interface.
func (w *watcher) ResultChan() <-chan watch.Event { return w.result }

// Stop implements watch.Interface.
func (w *watcher) Stop() { w.once.Do(func() { close(w.stopped) }) }

// start decides where to begin and returns the objects to send first.
func (w *watcher) start() ([]item, error) {
	if w.wantsInitial() {
		if err := w.storage.notNewer(w.opts.ResourceVersion); err != nil {
			return nil, err
		}
		items, revision := w.storage.table.list(w.selects)
		w.at = revision
		return items, nil
	}
	if w.at == 0 {
		w.at = w.storage.table.revision.Load()
	}
	_, _, _, err := w.storage.table.since(w.at)
	return nil, err
}

func (w *watcher) wantsInitial() bool {
	if w.opts.SendInitialEvents != nil {
		return *w.opts.SendInitialEvents
	}
	return w.at == 0
}

// run sends until the context or the watch ends.
func (w *watcher) run(ctx context.Context, initial []item) {
	defer close(w.result)
	if !w.sendInitial(ctx, initial) {
		return
	}
	ticker := time.NewTicker(w.storage.bookmarks)
	defer ticker.Stop()
	for {
		changes, upTo, changed, err := w.storage.table.since(w.at)
		if err != nil {
			w.send(ctx, watch.Event{Type: watch.Error, Object: status(err)})
			return
		}
		if !w.sendChanges(ctx, changes) {
			return
		}
		w.at = upTo
		select {
		case <-changed:
		case <-ticker.C:
			if w.opts.Predicate.AllowWatchBookmarks && !w.bookmark(ctx, false) {
				return
			}
		case <-ctx.Done():
			return
		case <-w.stopped:
			return
		}
	}
}

func (w *watcher) sendInitial(ctx context.Context, items []item) bool {
	for _, it := range items {
		if w.matches(it.object) && !w.send(ctx, watch.Event{Type: watch.Added, Object: it.object.DeepCopyObject()}) {
			return false
		}
	}
	if w.opts.SendInitialEvents != nil && *w.opts.SendInitialEvents && w.opts.Predicate.AllowWatchBookmarks {
		return w.bookmark(ctx, true)
	}
	return true
}

func (w *watcher) sendChanges(ctx context.Context, changes []change) bool {
	for _, c := range changes {
		if !w.selects(c.key) {
			continue
		}
		if event, ok := w.event(c); ok && !w.send(ctx, event) {
			return false
		}
	}
	return true
}

// event says what a change is to this watch: an object that begins to match is added, one that ceases to is deleted.
func (w *watcher) event(c change) (watch.Event, bool) {
	was, is := w.matches(c.before), w.matches(c.after)
	switch {
	case is && !was:
		return watch.Event{Type: watch.Added, Object: c.after.DeepCopyObject()}, true
	case is:
		return watch.Event{Type: watch.Modified, Object: c.after.DeepCopyObject()}, true
	case was:
		last := c.before.DeepCopyObject()
		_ = w.storage.UpdateObject(last, c.revision) // it could be set when the object was stored
		return watch.Event{Type: watch.Deleted, Object: last}, true
	}
	return watch.Event{}, false
}

func (w *watcher) matches(object runtime.Object) bool {
	if object == nil {
		return false
	}
	ok, err := w.opts.Predicate.Matches(object)
	return ok && err == nil
}

// bookmark tells the client how far it is; the one after the initial events is marked as such.
func (w *watcher) bookmark(ctx context.Context, initial bool) bool {
	object := w.storage.newObject()
	if w.storage.UpdateObject(object, w.at) != nil {
		return false
	}
	if initial && storage.AnnotateInitialEventsEndBookmark(object) != nil {
		return false
	}
	return w.send(ctx, watch.Event{Type: watch.Bookmark, Object: object})
}

func (w *watcher) send(ctx context.Context, event watch.Event) bool {
	select {
	case w.result <- event:
		return true
	case <-ctx.Done():
		return false
	case <-w.stopped:
		return false
	}
}

// status is the form in which a watch reports an error.
func status(err error) *metav1.Status {
	if known, ok := errors.AsType[*apierrors.StatusError](err); ok {
		return &known.ErrStatus
	}
	s := apierrors.NewInternalError(err).Status()
	return &s
}
