package authorize

import (
	"strings"
	"sync"
	"time"

	"github.com/lanyard-dev/lanyard/internal/flight"
	authorizationv1 "k8s.io/api/authorization/v1"
)

// shard is a part of a Cache: a bounded list of answers, least recently used first, and the reviews that are under way.
type shard struct {
	mu      sync.Mutex
	room    int
	entries map[key]*entry
	ends    entry // a ring: ends.next is the least recently used, ends.prev the most
	reviews flight.Group[key, authorizationv1.SubjectAccessReviewStatus]
}

type entry struct {
	key        key
	status     authorizationv1.SubjectAccessReviewStatus
	expires    time.Time
	prev, next *entry
}

func (s *shard) init(room int) {
	s.room = room
	s.entries = make(map[key]*entry)
	s.ends.prev, s.ends.next = &s.ends, &s.ends
}

// recall is get with the lock taken.
func (s *shard) recall(k key, now time.Time) (authorizationv1.SubjectAccessReviewStatus, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.get(k, now)
}

// get returns an answer that has not expired, and drops one that has.
func (s *shard) get(k key, now time.Time) (authorizationv1.SubjectAccessReviewStatus, bool) {
	e := s.entries[k]
	if e == nil {
		return authorizationv1.SubjectAccessReviewStatus{}, false
	}
	e.unlink()
	if !now.Before(e.expires) {
		delete(s.entries, k)
		return authorizationv1.SubjectAccessReviewStatus{}, false
	}
	s.push(e)
	return e.status, true
}

// put remembers an answer, in place of the least recently used one when the room is full.
func (s *shard) put(k key, status authorizationv1.SubjectAccessReviewStatus, expires time.Time) {
	if s.room == 0 {
		return
	}
	if old := s.entries[k]; old != nil {
		s.drop(old)
	}
	if len(s.entries) >= s.room {
		s.drop(s.ends.next)
	}
	status.Reason, status.EvaluationError = head(status.Reason), head(status.EvaluationError)
	e := &entry{key: k, status: status, expires: expires}
	s.entries[k] = e
	s.push(e)
}

func (s *shard) drop(e *entry) {
	e.unlink()
	delete(s.entries, e.key)
}

func (s *shard) push(e *entry) {
	e.prev, e.next = s.ends.prev, &s.ends
	e.prev.next, s.ends.prev = e, e
}

func (e *entry) unlink() {
	e.prev.next, e.next.prev = e.next, e.prev
}

// head copies what is kept of a text, so that a long one is not kept alive by its beginning.
func head(text string) string {
	if len(text) <= maxReasonBytes {
		return text
	}
	return strings.ToValidUTF8(strings.Clone(text[:maxReasonBytes]), "")
}
