package suite

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"
)

// Run runs the selected cases and reports on all, in the order of [Cases].
//
// The error is about the run, not about a case: [ErrOptions], a runtime that cannot be reached or cannot run a first
// container, the end of ctx, [ErrNothingTried], or leftovers that could not be removed. The report then contains what
// is known, and the error's text as Error, so that it is an error in each of its formats.
//
// Everything that Run makes in the runtime carries labels and is removed before it returns, even when ctx has ended.
// The next run removes what a killed one left behind; nothing else in the runtime is touched.
func Run(ctx context.Context, options Options) (report Report, err error) {
	defer func() {
		if err != nil {
			report.Endpoint, report.Error = options.Endpoint, err.Error()
		}
	}()
	options, err = options.withDefaults()
	if err != nil {
		return Report{}, err
	}
	n, err := newNode(options)
	if err != nil {
		return Report{}, err
	}
	defer func() { err = errors.Join(err, n.close(ctx)) }()
	if err := n.prepare(ctx); err != nil {
		return n.about(), err
	}
	cases := Cases()
	observations := n.tryAll(ctx, cases)
	report = n.about().with(cases, observations, n.states(cases, observations))
	return report, errors.Join(context.Cause(ctx), report.tried())
}

// observed is an observation and how long it took.
type observed struct {
	observation
	took time.Duration
}

// tryAll runs the selected cases, some at a time.
func (n *node) tryAll(ctx context.Context, cases []Case) []observed {
	out := make([]observed, len(cases))
	todo := make([]int, 0, len(cases))
	for i, c := range cases {
		if n.options.selects(c) {
			todo = append(todo, i)
		} else {
			out[i].Skipped = "not selected"
		}
	}
	next := make(chan int)
	var wg sync.WaitGroup
	progress := &progress{tell: n.options.Progress, total: len(todo)}
	for range n.options.Parallel {
		wg.Go(func() {
			for i := range next {
				out[i] = n.tryOne(ctx, cases[i])
				progress.done(cases[i].Name)
			}
		})
	}
	for _, i := range todo {
		next <- i
	}
	close(next)
	wg.Wait()
	return out
}

func (n *node) tryOne(ctx context.Context, c Case) observed {
	ctx, cancel := context.WithTimeout(ctx, n.options.Timeout)
	defer cancel()
	began := time.Now()
	o := observation{Err: ctx.Err()}
	if o.Err == nil {
		o = c.try(ctx, n)
	}
	if ctx.Err() != nil && len(o.Problems) > 0 {
		// What was seen when time ran out may be because of that.
		o = trouble(ctx.Err())
	}
	return observed{o, time.Since(began)}
}

// states says of each feature what is known after all cases.
func (n *node) states(cases []Case, observations []observed) []FeatureState {
	var out []FeatureState
	for _, f := range Features() {
		s := FeatureState{Feature: f, Reported: n.reported[f], Required: slices.Contains(n.options.Require, f)}
		if f == FeatureEnvs {
			s.Shown = slices.ContainsFunc(n.probes, func(p probe) bool { return p.carries.Shown })
		}
		for i, o := range observations {
			s.Shown = s.Shown || cases[i].Feature == f && o.Shown
		}
		out = append(out, s)
	}
	return out
}

// progress tells of finished cases, one at a time.
type progress struct {
	tell  func(done, total int, name string)
	total int

	mu sync.Mutex
	n  int
}

func (p *progress) done(name string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.n++
	if p.tell != nil {
		p.tell(p.n, p.total, name)
	}
}
