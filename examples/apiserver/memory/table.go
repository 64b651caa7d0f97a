package memory

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/storage"
)

// item is one object as stored: never changed, only replaced.
type item struct {
	object   runtime.Object
	revision uint64
	ttl      uint64 // seconds; 0 is forever
}

// change is one entry of the history. before is nil for a new object, after for a deleted one.
type change struct {
	key           string
	revision      uint64
	before, after runtime.Object
}

// expiry says when an item dies unless it was replaced since.
type expiry struct {
	key      string
	revision uint64
	at       time.Time
}

// table holds the objects of one resource and its recent history.
type table struct {
	revision *atomic.Uint64 // shared by all tables; grows only under some table's lock
	now      func() time.Time

	mu       sync.RWMutex
	items    map[string]item
	history  []change
	dropped  uint64 // the newest revision that left the history
	expiring []expiry
	changed  chan struct{} // closed and replaced at each change
}

func newTable(revision *atomic.Uint64, now func() time.Time) *table {
	return &table{
		revision: revision,
		now:      now,
		items:    map[string]item{},
		dropped:  revision.Load(),
		changed:  make(chan struct{}),
	}
}

// get returns the item under a key, and whether there is one.
func (t *table) get(key string) (item, bool) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	it, ok := t.items[key]
	return it, ok
}

// list returns the items that match, by key ascending, and the revision they were read at.
func (t *table) list(match func(key string) bool) ([]item, uint64) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	keys := make([]string, 0, len(t.items))
	for key := range t.items {
		if match(key) {
			keys = append(keys, key)
		}
	}
	slices.SortFunc(keys, strings.Compare)
	items := make([]item, len(keys))
	for i, key := range keys {
		items[i] = t.items[key]
	}
	return items, t.revision.Load()
}

// swap replaces the item under a key if its revision is still the expected one (0: there is none). A nil object
// deletes. The object's resourceVersion is set to the new revision. It reports false when somebody else was faster.
func (t *table) swap(key string, expected uint64, object runtime.Object, ttl uint64) (bool, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.expire(t.now())
	current := t.items[key]
	if current.revision != expected {
		return false, nil
	}
	if current.object == nil && len(t.items) >= MaxObjects {
		return false, apierrors.NewTooManyRequestsError(fmt.Sprintf("this resource holds %d objects, the most it keeps", MaxObjects))
	}
	return true, t.put(key, object, ttl)
}

// put writes an item, or removes it when object is nil, and records the change. The caller holds the lock.
func (t *table) put(key string, object runtime.Object, ttl uint64) error {
	c := change{key: key, revision: t.revision.Add(1), before: t.items[key].object, after: object}
	if object == nil {
		delete(t.items, key)
		t.record(c)
		return nil
	}
	if err := (storage.APIObjectVersioner{}).UpdateObject(object, c.revision); err != nil {
		return err
	}
	t.items[key] = item{object: object, revision: c.revision, ttl: ttl}
	if ttl > 0 {
		t.expiring = append(t.expiring, expiry{key, c.revision, t.now().Add(time.Duration(ttl) * time.Second)})
	}
	t.record(c)
	return nil
}

// record appends to the history, drops its older half when it is twice as long as promised, and wakes the watches.
func (t *table) record(c change) {
	if len(t.history) >= 2*MaxHistory {
		t.dropped = t.history[MaxHistory-1].revision
		t.history = slices.Clone(t.history[MaxHistory:])
	}
	t.history = append(t.history, c)
	close(t.changed)
	t.changed = make(chan struct{})
}

// expire removes what has outlived its time. One resource has one time to live, so the oldest entry is due first.
func (t *table) expire(now time.Time) {
	for len(t.expiring) > 0 && !t.expiring[0].at.After(now) {
		due := t.expiring[0]
		t.expiring = t.expiring[1:]
		if t.items[due.key].revision == due.revision {
			_ = t.put(due.key, nil, 0) // a removal cannot err
		}
	}
}

// since returns the changes after a revision, the revision up to which they are complete, and a channel that is closed
// at the next change. The error is 410 Gone when the history does not reach back that far.
func (t *table) since(revision uint64) ([]change, uint64, <-chan struct{}, error) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	if revision < t.dropped {
		return nil, 0, nil, apierrors.NewResourceExpired(fmt.Sprintf("too old resource version: %d (%d)", revision, t.dropped))
	}
	first, found := slices.BinarySearchFunc(t.history, revision, func(c change, r uint64) int {
		return cmp.Compare(c.revision, r)
	})
	if found {
		first++
	}
	return slices.Clone(t.history[first:]), max(revision, t.revision.Load()), t.changed, nil
}
