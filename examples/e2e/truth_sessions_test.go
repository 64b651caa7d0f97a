package e2e_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/lanyard-dev/lanyard/examples/pids"
	"github.com/lanyard-dev/lanyard/examples/testimage"
	"github.com/lanyard-dev/lanyard/execaudit"
)

// rewindEvery is after how many sessions PIDs begin anew. They use up some thousand, more than a machine gives out in a
// tick.
const rewindEvery = 40

// openers is how many sessions are opened at once.
const openers = 4

// play is the truth test's sessions, as they come and go.
type play struct {
	*theatre

	mu    sync.Mutex
	onPod [truthPods][]*played
	all   map[string]*played // by name
	most  int                // were open at once
}

// played is a session that was opened.
type played struct {
	plan
	*session
	id     string // its audit ID
	reused bool   // another session has that too
	cancel context.CancelFunc
}

// run opens every session, and ends those that have been open longest.
func (p *play) run(t *testing.T, plans []plan) {
	t.Helper()
	todo := make(chan plan)
	var workers sync.WaitGroup
	for range openers {
		workers.Go(func() {
			for next := range todo {
				if err := p.one(t.Context(), next); err != nil {
					t.Errorf("%s %v: %v", next.name(), next.steps, err)
				}
			}
		})
	}
	for _, next := range plans {
		if next.number%actSessions == 0 && next.act() >= 2 {
			p.release(t, next.act()-2)
		}
		todo <- next
	}
	close(todo)
	workers.Wait()
	for _, open := range p.onPod {
		for _, s := range open {
			if err := s.end(); err != nil {
				t.Errorf("%s %v: %v", s.name(), s.steps, err)
			}
		}
	}
	for act := max(0, truthActs-2); act < truthActs; act++ {
		p.release(t, act)
	}
}

// release lets the daemons of an act end.
func (p *play) release(t *testing.T, act int) {
	t.Helper()
	if err := p.gates[act].Close(); err != nil {
		t.Error(err)
	}
}

func (p *play) one(ctx context.Context, next plan) error {
	s, err := p.open(ctx, next)
	if err != nil {
		return err
	}
	oldest, err := p.enter(s)
	if err != nil || oldest == nil {
		return err
	}
	return oldest.end()
}

// open opens a session as its plan says.
func (p *play) open(ctx context.Context, next plan) (*played, error) {
	s := &played{plan: next, reused: next.trick == reuse}
	id, err := p.victim(next)
	if err != nil {
		return nil, err
	}
	executor, err := p.executor(next, id, append([]string{testimage.Program}, next.command(id)...))
	if err != nil {
		return nil, err
	}
	ctx, s.cancel = context.WithCancel(ctx)
	if s.session, err = openSession(ctx, executor); err != nil {
		return nil, err
	}
	if s.id, _ = s.report.Get(execaudit.AuditIDName); s.id == "" {
		return nil, errors.New("the session has no ID")
	}
	return s, nil
}

// victim returns the ID of an honest session of another user that is open, on the same pod if there is one.
func (p *play) victim(of plan) (string, error) {
	if of.trick != spoof && of.trick != reuse {
		return "", nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for i := range truthPods {
		for _, s := range p.onPod[(of.pod+i)%truthPods] {
			if s.trick == honest && !s.reused && s.user != of.user {
				s.reused = of.trick == reuse
				return s.id, nil
			}
		}
	}
	return "", errors.New("nobody else is there")
}

// enter notes a session and returns the one that is to end in its place, nil for none.
func (p *play) enter(s *played) (oldest *played, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.all[s.name()] = s
	p.onPod[s.pod] = append(p.onPod[s.pod], s)
	if len(p.all)%rewindEvery == 0 {
		err = pids.Rewind(p.pid)
	}
	p.most = max(p.most, p.count())
	if len(p.onPod[s.pod]) > openPerPod {
		oldest, p.onPod[s.pod] = p.onPod[s.pod][0], p.onPod[s.pod][1:]
	}
	return oldest, err
}

// count returns how many sessions are open.
func (p *play) count() (n int) {
	for _, on := range p.onPod {
		for _, s := range on {
			if s.session.open() {
				n++
			}
		}
	}
	return n
}

// end ends a session and returns what was wrong with how it ended.
func (s *played) end() error {
	defer s.cancel()
	if s.cut {
		s.cancel()
	}
	_ = s.in.Close()
	select {
	case err := <-s.ended:
		if s.cut || s.killed() {
			return nil
		}
		return err
	case <-time.After(5 * time.Minute): // a busy machine, with PIDs that begin anew, takes more than half a minute
		return errors.New("it hangs")
	}
}
