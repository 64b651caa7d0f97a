package negotiate

import (
	"sync"
	"time"
)

// maxLimitedPods bounds the memory of a limiter: more pods than a node runs.
const maxLimitedPods = 1024

// limiter lets one event per pod and interval pass.
type limiter struct {
	interval time.Duration

	mu   sync.Mutex
	last map[Pod]time.Time
}

func newLimiter(interval time.Duration) *limiter {
	return &limiter{interval: interval, last: make(map[Pod]time.Time)}
}

func (l *limiter) allow(pod Pod, now time.Time) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if last, seen := l.last[pod]; seen && now.Sub(last) < l.interval {
		return false
	}
	if len(l.last) >= maxLimitedPods {
		l.forget(now)
	}
	if len(l.last) >= maxLimitedPods {
		return false
	}
	l.last[pod] = now
	return true
}

func (l *limiter) forget(now time.Time) {
	for pod, last := range l.last {
		if now.Sub(last) >= l.interval {
			delete(l.last, pod)
		}
	}
}
