package transport

import (
	"crypto/sha256"
	"encoding/json"
	"slices"
	"sync"
	"time"

	"github.com/lanyard-dev/lanyard/execcredential"
	"github.com/lanyard-dev/lanyard/internal/flight"
	"github.com/lanyard-dev/lanyard/redact"
)

// Pool is what sources share. It is safe for concurrent use. Pools of one process share nothing.
type Pool struct {
	options Options
	flights *flight.Group[*shared, *snapshot] // a pointer, which no formatting follows: it is in motion

	mu      sync.Mutex
	closed  bool
	sources map[sourceKey]*shared
	order   []sourceKey // least recently asked for first
	expiry  map[*shared]time.Time
}

// sourceKey is a digest, so that the pool's own tables hold no environment value.
type sourceKey [sha256.Size]byte

// NewPool returns a pool without sources. It starts nothing. The error is that of the policy's Validate.
func NewPool(options Options) (*Pool, error) {
	if err := options.Policy.Validate(); err != nil {
		return nil, err
	}
	options.Policy.Commands = slices.Clone(options.Policy.Commands)
	return &Pool{
		options: options, flights: &flight.Group[*shared, *snapshot]{},
		sources: map[sourceKey]*shared{}, expiry: map[*shared]time.Time{},
	}, nil
}

// Source returns the source of a configuration. Equal configurations, with equal cluster information where they ask for
// it, share one credential and one run; whom they impersonate makes no difference to that. Nothing is run until a
// credential is asked for.
//
// Close the source when it is not used any more: the pool remembers its credential until it needs the room. Errors:
// those of [execcredential.ExecConfig.Validate]; [ErrPoolFull]; [ErrClosed].
func (p *Pool) Source(config execcredential.ExecConfig, cluster *execcredential.Cluster) (*Source, error) {
	config = config.Defaulted().Clone()
	if err := config.Validate(); err != nil {
		return nil, err
	}
	if !config.ProvideClusterInfo {
		cluster = nil
	}
	as := newImpersonation(config.Impersonate)
	config.Impersonate = execcredential.Impersonation{}
	key, err := keyOf(config, cluster)
	if err != nil {
		return nil, err
	}
	p.mu.Lock()
	s, evicted, err := p.find(key, config, cluster)
	p.mu.Unlock()
	if evicted != nil {
		evicted.retire()
	}
	if err != nil {
		return nil, err
	}
	return &Source{shared: s, impersonate: as}, nil
}

// keyOf tells configurations apart by everything that decides whether and how the plugin runs, what a kubeconfig does
// not contain included. The digest is over the content of what is not shown.
func keyOf(config execcredential.ExecConfig, cluster *execcredential.Cluster) (sourceKey, error) {
	told := config
	told.ProvideClusterInfo, told.APIVersion = true, execcredential.V1
	info, err := execcredential.Info(told, cluster, false)
	if err != nil {
		return sourceKey{}, err
	}
	data, err := json.Marshal(struct {
		Args, Env []string
		Cluster   string
		Config    execcredential.ExecConfig // its arguments and environment values show as marks
	}{redact.Reveal(config.Args), redact.Reveal(execcredential.Environ(nil, config, "")), info, config})
	return sha256.Sum256(data), err
}

// find returns the source for key, made if need be, and the one that had to make room.
func (p *Pool) find(key sourceKey, config execcredential.ExecConfig, cluster *execcredential.Cluster) (s, evicted *shared, err error) {
	if p.closed {
		return nil, nil, ErrClosed
	}
	s, known := p.sources[key]
	if !known {
		if len(p.sources) >= p.options.maxSources() {
			if evicted = p.evict(); evicted == nil {
				return nil, nil, ErrPoolFull
			}
		}
		s = newShared(p, config, cluster)
		p.sources[key] = s
	}
	s.users++
	p.order = append(slices.DeleteFunc(p.order, func(k sourceKey) bool { return k == key }), key)
	return s, evicted, nil
}

// evict forgets the least recently asked for source that nobody uses; nil when all are used.
func (p *Pool) evict() *shared {
	for i, key := range p.order {
		if s := p.sources[key]; s.users == 0 {
			delete(p.sources, key)
			p.order = slices.Delete(p.order, i, i+1)
			return s
		}
	}
	return nil
}

func (p *Pool) leave(s *shared) {
	p.mu.Lock()
	defer p.mu.Unlock()
	s.users--
}

// Close ends every run with its process group, waits for them, and makes every source fail with [ErrClosed]. It returns
// nil.
func (p *Pool) Close() error {
	p.mu.Lock()
	p.closed = true
	sources := p.sources
	p.sources, p.order = map[sourceKey]*shared{}, nil
	p.mu.Unlock()
	for _, s := range sources {
		s.retire()
	}
	p.flights.Close(ErrClosed)
	return nil
}

// expires records the NotAfter of a source's certificate, the zero time for none, and reports the earliest of all.
func (p *Pool) expires(s *shared, notAfter time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if notAfter.IsZero() {
		delete(p.expiry, s)
	} else {
		p.expiry[s] = notAfter
	}
	var earliest *time.Time
	for _, moment := range p.expiry {
		if earliest == nil || moment.Before(*earliest) {
			earliest = &moment
		}
	}
	p.options.Metrics.expiry(earliest)
}
