package source

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/lanyard-dev/lanyard/execaudit/agent"
	"github.com/lanyard-dev/lanyard/execaudit/attribution"
	"github.com/lanyard-dev/lanyard/execaudit/journal"
	"github.com/lanyard-dev/lanyard/redact"
)

// Source is the agent without its command. Run is called once; the other methods may be called by any goroutine, before
// Run and after it too.
type Source struct {
	options    Options
	boot       string
	cgroups    *cgroups
	pumps      []*pump
	flow       chan struct{} // holds one: something waits for a record
	checkEvery time.Duration

	looking  sync.Mutex
	journals []*follower // looking

	mu            sync.Mutex
	tracker       *agent.Tracker
	machine       *attribution.Machine // nil without Answers
	batch         *batch
	ledger        ledger
	began, booted time.Time
	blind         []string
	journalStates map[string]JournalStatus
	// reading is what the Reader missed when it was counted; noticed of it were told the outputs. The Reader knows of told
	// and toldLost.
	reading  Counters
	counted  time.Time
	noticed  int64
	told     uint64
	toldLost int64
	missing  map[agent.Task]bool // processes that were gone when they were looked at
	trouble  string
}

// New returns a Source. Its error is a missing option, or the system's where the boot's ID cannot be read.
func New(o Options) (*Source, error) {
	o = o.withDefaults()
	switch {
	case o.Reader == nil:
		return nil, errors.New("source: no reader")
	case o.Node == "":
		return nil, errors.New("source: no node name")
	}
	s := &Source{
		options: o, boot: o.BootID, flow: make(chan struct{}, 1), checkEvery: checkEvery, batch: &batch{},
		journalStates: map[string]JournalStatus{}, blind: o.Blind, cgroups: newCgroups(o),
	}
	if s.boot == "" {
		b, err := os.ReadFile(filepath.Join(o.Proc, "sys/kernel/random/boot_id"))
		if err != nil {
			return nil, fmt.Errorf("boot ID: %w", err)
		}
		s.boot = strings.TrimSpace(string(b))
	}
	s.booted = o.boot()
	t := o.Tracker
	if t.Args.Mode == agent.ArgsHash && t.Args.Key.IsEmpty() {
		key := make([]byte, sha256.Size)
		rand.Read(key)
		t.Args.Key = redact.NewBytes(key)
	}
	t.Node, t.BootID, t.Boot, t.MountNS, t.Container = o.Node, s.boot, s.booted, hostMountNS(o.Proc), s.cgroups.container
	s.tracker = agent.New(t, s.event, s.notice)
	if o.Answers != nil {
		s.machine = attribution.New(o.Attribution, o.Answers)
	}
	for _, output := range o.Outputs {
		s.pumps = append(s.pumps, &pump{
			output: output, limit: o.QueueBytes, now: o.Now, tell: s.signed, done: s.done, paid: s.paid,
			wake: make(chan struct{}, 1),
		})
	}
	for _, path := range o.Journals {
		s.journals = append(s.journals, &follower{path: path, take: s.record, status: JournalStatus{Path: path}})
	}
	return s, nil
}

// bootStep is how exact the time of the boot is. It is rounded, so that what is read again by another Source has the
// same time.
const bootStep = 10 * time.Millisecond

func (o Options) boot() time.Time { return o.Now().Add(-sinceBoot()).Round(bootStep) }

// How often things are looked at.
const (
	flushEvery   = 20 * time.Millisecond
	countEvery   = time.Second
	checkEvery   = 10 * time.Second
	lookWaiting  = 10 * time.Millisecond // into a journal for which something waits
	lookIdle     = 200 * time.Millisecond
	startReason  = "the agent began to watch; what ended before is not told"
	stopReason   = "the agent ended in order"
	lostReason   = "they could not be read: at most so many"
	gapReason    = "the kernel had no room for an unknown number"
	walkReason   = "the processes that ran before could not be read"
	brokenReason = "reading ended with an error"
)

// Run reads until ctx is done, the Reader ends (io.EOF) or fails, and returns when everything is with the outputs and
// they are closed. Its error joins the Reader's and those of the outputs' ends.
func (s *Source) Run(ctx context.Context) error {
	var pumps, helpers sync.WaitGroup
	ends := make([]error, len(s.pumps))
	for i, p := range s.pumps {
		pumps.Go(func() { ends[i] = p.run() })
	}
	s.begin()
	stop := context.AfterFunc(ctx, s.options.Reader.Interrupt)
	inner, cancel := context.WithCancel(context.WithoutCancel(ctx))
	helpers.Go(func() { s.tick(inner) })
	helpers.Go(func() { s.follow(inner) })
	err := s.read()
	stop()
	cancel()
	helpers.Wait()
	s.finish(err)
	for _, p := range s.pumps {
		p.end()
	}
	pumps.Wait()
	return errors.Join(append(ends, err)...)
}

// begin tells what is there already.
func (s *Source) begin() {
	now := s.options.Now()
	s.mu.Lock()
	s.began = now
	s.tracker.Advance(now)
	s.tracker.Tell(agent.Notice{Kind: agent.NoticeStart, Time: now, Reason: startReason})
	for _, text := range s.blind {
		s.tracker.Tell(agent.Notice{Kind: agent.NoticeBlind, Time: now, Reason: text})
	}
	s.mu.Unlock()
	if !s.options.NoWalk {
		s.walk()
	}
	s.look()
}

// walk observes the marked processes that are there.
func (s *Source) walk() {
	found, err := s.options.walk()
	for i := range found {
		s.observe(&found[i], false)
	}
	if err != nil {
		s.mu.Lock()
		s.tracker.Tell(agent.Notice{Kind: agent.NoticeBlind, Time: s.options.Now(), Reason: walkReason})
		s.mu.Unlock()
	}
}

// read takes what the Reader gives. It returns nil at its end.
func (s *Source) read() error {
	var o agent.Observation
	for {
		err := s.options.Reader.Read(&o)
		switch {
		case errors.Is(err, io.EOF), errors.Is(err, ErrInterrupted):
			return nil
		case err != nil:
			return fmt.Errorf("source: %w", err)
		}
		s.observe(&o, true)
	}
}

func (s *Source) observe(o *agent.Observation, numbered bool) {
	if o.Cgroup == "" {
		o.Cgroup = s.cgroups.path(o.CgroupID, o.PID)
	}
	s.mu.Lock()
	o.Number = 0
	if numbered {
		o.Number = s.ledger.read()
	}
	before := s.tracker.Held()
	s.tracker.Observe(o)
	waits := s.tracker.Held() > before
	s.mu.Unlock()
	if waits {
		select {
		case s.flow <- struct{}{}:
		default:
		}
	}
}

// event is called by the tracker, with mu held.
func (s *Source) event(e *agent.Event) {
	if s.machine != nil && e.Role == agent.RoleSession {
		s.machine.AddEvent(&e.Event)
	}
	s.batch.add(e)
	if s.batch.full() {
		s.flush()
	}
}

func (s *Source) notice(n *agent.Notice) {
	s.batch.notify(n)
	s.flush() // so that it comes after the events before it
}

// flush hands the batch to the outputs; mu is held.
func (s *Source) flush() {
	b := s.batch
	if b.empty() {
		return
	}
	s.batch = &batch{}
	b.open.Store(int32(max(len(s.pumps), 1)))
	if len(s.pumps) == 0 {
		s.finished(b)
	}
	for _, p := range s.pumps {
		if !p.offer(b) && b.open.Add(-1) == 0 {
			s.finished(b)
		}
	}
}

// done is called when an output is through with a batch.
func (s *Source) done(b *batch) {
	if b.open.Add(-1) > 0 {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.finished(b)
}

func (s *Source) paid() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.account()
}

func (s *Source) finished(b *batch) {
	for _, e := range b.events {
		s.ledger.tell(e.Observation.Number)
	}
	s.noticed += b.lost
	s.account()
}

// account tells the Reader what need not be read again. What an output misses is lost until it is told so: an agent
// that comes after a kill tells it.
func (s *Source) account() {
	lost := s.noticed
	for _, p := range s.pumps {
		lost -= p.owes()
	}
	if s.ledger.told == s.told && lost == s.toldLost {
		return
	}
	s.told, s.toldLost = s.ledger.told, lost
	if err := s.options.Reader.Told(s.told, s.toldLost); err != nil {
		s.trouble = err.Error()
	}
}

// finish gives everything that waits.
func (s *Source) finish(err error) {
	now := s.options.Now()
	s.count(now)
	s.look()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tracker.Flush(now)
	reason := stopReason
	if err != nil {
		reason = brokenReason
	}
	s.tracker.Tell(agent.Notice{Kind: agent.NoticeStop, Time: now, Reason: reason})
	if s.machine != nil {
		s.machine.Flush()
	}
	s.flush()
}

// signed returns the notice with node and boot, for one output.
func (s *Source) signed(n agent.Notice) *agent.Notice {
	n.Node, n.BootID, n.Time = s.options.Node, s.boot, n.Time.UTC()
	return &n
}

// AddAudit gives an audit event of an exec request to the answers; without Answers it does nothing.
func (s *Source) AddAudit(a *attribution.Audit) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.machine != nil {
		s.machine.AddAudit(a)
	}
}

// record takes in one record of a journal.
func (s *Source) record(r *journal.Record) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tracker.AddRecord(r)
	if s.machine != nil && r.Kind != journal.KindRefusal {
		s.machine.AddRecord(attributed(r))
	}
}
