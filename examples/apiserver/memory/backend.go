package memory

import (
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
)

const (
	// MaxObjects is how many objects one resource holds at most; creating one more is refused.
	MaxObjects = 50_000
	// MaxHistory is how many changes of one resource a watch can look back. One that needs older ones gets 410 Gone.
	MaxHistory = 4096
	// BookmarkPeriod is the time between two bookmarks of a quiet watch that asked for them.
	BookmarkPeriod = 30 * time.Second
)

// Backend holds the objects of all resources. It is safe for concurrent use.
type Backend struct {
	revision  atomic.Uint64
	bookmarks time.Duration
	now       func() time.Time

	mu     sync.Mutex
	tables map[string]*table
}

// Options of a Backend; the zero value is a good one.
type Options struct {
	// BookmarkPeriod replaces the constant of that name when positive.
	BookmarkPeriod time.Duration
	// Now is the clock by which objects outlive their time; nil is time.Now.
	Now func() time.Time
}

// New returns an empty Backend. Its first revision is the time in microseconds, so that a client which carries a
// revision of a former Backend is told that it has expired, and never takes a new one for an old one.
func New(o Options) *Backend {
	b := &Backend{bookmarks: o.BookmarkPeriod, now: o.Now, tables: map[string]*table{}}
	if b.bookmarks <= 0 {
		b.bookmarks = BookmarkPeriod
	}
	if b.now == nil {
		b.now = time.Now
	}
	b.revision.Store(uint64(time.Now().UnixMicro()))
	return b
}

// Storage returns the objects whose keys begin with prefix. Storages of one prefix share them. newObject returns an
// empty object of the resource's type.
func (b *Backend) Storage(prefix string, newObject func() runtime.Object) *Storage {
	return &Storage{table: b.table(prefix), newObject: newObject, bookmarks: b.bookmarks}
}

func (b *Backend) table(prefix string) *table {
	b.mu.Lock()
	defer b.mu.Unlock()
	t, ok := b.tables[prefix]
	if !ok {
		t = newTable(&b.revision, b.now)
		b.tables[prefix] = t
	}
	return t
}
