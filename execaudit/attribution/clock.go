package attribution

import (
	"cmp"
	"container/heap"
	"slices"
	"time"
)

// Skew is how far a node's clock is ahead of the API servers', as sessions show that are certain but for their time:
// one process by the journal and one request by the audit log for an ID.
type Skew struct {
	Node string
	// Ahead is negative for a clock that is behind. It includes what a session usually takes to start.
	Ahead time.Duration
	// Sessions is how many agree, within Options.Skew.
	Sessions int
}

// What it takes to believe in a skew.
const (
	// MinSkewSessions is how many other sessions have to show a skew before it excuses one's time.
	MinSkewSessions = 8
	// MaxSkew is the largest skew that is believed.
	MaxSkew = 5 * time.Minute
	// skewShare is which share of the sessions around one have to show it: a quarter, since several API servers may each
	// have a clock of their own.
	skewShare = 4

	skewBefore = 10 * time.Minute // how long before a session others are looked at
	skewAfter  = 2 * time.Minute  // and how long after; less than the default Linger
	maxSamples = 256              // around any one
	skewPause  = 10 * time.Second // before doubted answers are judged again
)

// clock is what is known of a node's clock.
type clock struct {
	samples []sample // by time
	// doubted are the answers about sessions whose time does not fit; asked is when they were judged again for it.
	doubted watchers
	asked   time.Time
}

// sample is what one session says about the clocks.
type sample struct {
	at    time.Time // by the node
	ahead time.Duration
	key   journalKey
}

func (s sample) compare(o sample) int {
	return cmp.Or(s.at.Compare(o.at), s.key.compare(o.key))
}

// note keeps a sample, and returns how many more there are now. Of too many around it, one goes where they are closest
// in time.
func (c *clock) note(s sample) int {
	i, known := slices.BinarySearchFunc(c.samples, s, sample.compare)
	if known {
		return 0
	}
	c.samples = slices.Insert(c.samples, i, s)
	from, to := c.span(s.at)
	if to-from <= maxSamples {
		return 1
	}
	closest := from + 1
	for i := from + 2; i < to-1; i++ {
		if c.gap(i) < c.gap(closest) {
			closest = i
		}
	}
	c.samples = slices.Delete(c.samples, closest, closest+1)
	return 0
}

// leave drops what a session said, and returns how many samples that were.
func (c *clock) leave(key journalKey) int {
	before := len(c.samples)
	c.samples = slices.DeleteFunc(c.samples, func(s sample) bool { return s.key == key })
	return before - len(c.samples)
}

// gap returns how long there would be no sample without the i-th.
func (c *clock) gap(i int) time.Duration {
	return c.samples[i+1].at.Sub(c.samples[i-1].at)
}

// forget drops samples from before t, and returns how many.
func (c *clock) forget(t time.Time) int {
	i, _ := slices.BinarySearchFunc(c.samples, sample{at: t}, sample.compare)
	c.samples = slices.Delete(c.samples, 0, i)
	return i
}

// last returns the time of the latest sample; the zero time for none.
func (c *clock) last() (at time.Time) {
	if n := len(c.samples); n > 0 {
		at = c.samples[n-1].at
	}
	return at
}

// around returns the samples of the time around at.
func (c *clock) around(at time.Time) []sample {
	from, to := c.span(at)
	return c.samples[from:to]
}

// span returns where the samples around at begin, and where they end.
func (c *clock) span(at time.Time) (from, to int) {
	from, _ = slices.BinarySearchFunc(c.samples, sample{at: at.Add(-skewBefore)}, sample.compare)
	to, _ = slices.BinarySearchFunc(c.samples, sample{at: at.Add(skewAfter)}, sample.compare)
	return from, to
}

// usual reports whether at the time at, sessions other than the one of key were as far ahead, within the tolerance.
func (c *clock) usual(at time.Time, ahead time.Duration, key journalKey, tolerance time.Duration) bool {
	if ahead.Abs() > MaxSkew {
		return false
	}
	around, agree := c.around(at), 0
	for _, s := range around {
		if s.key != key && (s.ahead-ahead).Abs() <= tolerance {
			agree++
		}
	}
	return agree >= MinSkewSessions && agree*skewShare >= len(around)
}

// usually returns what most of the samples of the time around at agree on; the zero Skew for too few.
func (c *clock) usually(at time.Time, tolerance time.Duration) (best Skew) {
	around := slices.Clone(c.around(at))
	slices.SortFunc(around, func(a, b sample) int { return cmp.Compare(a.ahead, b.ahead) })
	for from, to := 0, 0; to < len(around); to++ {
		for around[to].ahead-around[from].ahead > 2*tolerance {
			from++
		}
		if n := to - from + 1; n > best.Sessions {
			best = Skew{Ahead: around[(from+to)/2].ahead, Sessions: n}
		}
	}
	if best.Sessions < MinSkewSessions {
		return Skew{}
	}
	return best
}

// Skews returns the latest estimate of each node that has one, sorted by name. Times are compared by what the sessions
// around one show, where that is more than Options.Skew.
func (m *Machine) Skews() []Skew {
	var out []Skew
	for name, n := range m.nodes {
		if s := n.clock.usually(n.clock.last(), m.options.Skew); s.Sessions > 0 {
			s.Node = name
			out = append(out, s)
		}
	}
	slices.SortFunc(out, func(a, b Skew) int { return cmp.Compare(a.Node, b.Node) })
	return out
}

// sample takes what the sessions up to t say about the clocks, once their window has passed.
func (m *Machine) sample(t time.Time) {
	for len(m.unsampled) > 0 && !m.unsampled[0].at.After(t) {
		r := heap.Pop(&m.unsampled).(unsampled).root
		c := &r.node.clock
		more := -c.leave(r.key)
		if ahead, ok := r.ahead(); ok {
			more += c.note(sample{r.at, ahead, r.key})
		}
		if t.Before(endOfTime) { // else all answers are still to be given
			more -= c.forget(r.at.Add(-skewBefore - m.options.Linger))
		}
		m.grow(more * sampleBytes)
		if r.at.Sub(c.asked) >= skewPause {
			c.asked = r.at
			m.touch(&c.doubted)
		}
	}
}

// sampleAgain asks the sessions of an ID anew what they say about the clocks, since something else is known of it.
func (m *Machine) sampleAgain(t *ticket) {
	for _, r := range t.roots {
		heap.Push(&m.unsampled, unsampled{r.at, r})
	}
}

// ahead returns how much later the session started by the node's clock than its one request came by the API server's;
// false for a session that is not certain.
func (r *root) ahead() (time.Duration, bool) {
	t := r.primary()
	if r.gone || r.mixed || t == nil {
		return 0, false
	}
	s := t.only()
	if s == nil || s.Refused() || r.reused || r.container.place().contradicts(s) != "" {
		return 0, false
	}
	return r.at.Sub(s.Received), true
}

// unsampled is a session that has not been asked about the clocks yet. Where it turns out to be older, there is one
// more.
type unsampled struct {
	at   time.Time
	root *root
}

func (u unsampled) compare(o unsampled) int {
	return cmp.Or(u.at.Compare(o.at), cmp.Compare(u.root.node.name, o.root.node.name), u.root.key.compare(o.root.key))
}

// earliest is a heap.
type earliest []unsampled

func (h earliest) Len() int           { return len(h) }
func (h earliest) Less(i, j int) bool { return h[i].compare(h[j]) < 0 }
func (h earliest) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *earliest) Push(x any)        { *h = append(*h, x.(unsampled)) }
func (h *earliest) Pop() any {
	old := *h
	last := old[len(old)-1]
	old[len(old)-1] = unsampled{}
	*h = old[:len(old)-1]
	return last
}
