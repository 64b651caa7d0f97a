package source

import (
	"context"
	"time"

	"github.com/lanyard-dev/lanyard/execaudit/agent"
)

// tick tells the tracker the time.
func (s *Source) tick(ctx context.Context) {
	ticker := time.NewTicker(flushEvery)
	defer ticker.Stop()
	var counted, checked time.Time
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		now := s.options.Now()
		if now.Sub(counted) >= countEvery || now.Before(counted) {
			counted = now
			s.count(now)
		}
		if !s.options.NoWalk && (now.Sub(checked) >= s.checkEvery || now.Before(checked)) {
			checked = now
			s.check(now)
		}
		s.mu.Lock()
		s.advance(now)
		s.mu.Unlock()
	}
}

func (s *Source) advance(now time.Time) {
	s.tracker.Advance(now)
	if s.machine != nil {
		s.machine.Advance(now)
	}
	s.flush()
}

// count tells what the Reader missed, and follows the wall clock.
func (s *Source) count(now time.Time) {
	c, err := s.options.Reader.Counters()
	boot := s.options.boot()
	s.mu.Lock()
	defer s.mu.Unlock()
	if d := boot.Sub(s.booted).Abs(); d > 2*bootStep {
		s.booted = boot
		s.tracker.SetBoot(boot)
	}
	if err != nil {
		s.trouble = err.Error()
		return
	}
	before := s.reading
	s.reading = c
	if n := c.Lost - before.Lost; n > 0 {
		s.batch.lost += n
		s.tracker.Lost(n, s.counted, now, lostReason)
	}
	if c.Gaps > before.Gaps {
		s.tracker.Lost(-1, s.counted, now, gapReason)
	}
	s.counted = now
}

// check looks whether the processes that are known are there. One that is not twice in a row, so that its exit would
// have been read, is forgotten; of one that has left the marks that is told.
func (s *Source) check(now time.Time) {
	s.mu.Lock()
	all := s.tracker.Processes()
	s.mu.Unlock()
	fates := s.options.fates(all)
	missing := map[agent.Task]bool{}
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, live := range all {
		switch {
		case fates[i] == fateLeft:
			s.tracker.Left(live.Task, now)
		case fates[i] == fateGone && s.missing[live.Task]:
			s.tracker.Gone(live.Task)
		case fates[i] == fateGone:
			missing[live.Task] = true
		}
	}
	s.missing = missing
}
