package transport

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/lanyard-dev/lanyard/execcredential"
	"github.com/lanyard-dev/lanyard/internal/flight"
)

// Source gives the credential of one configuration. It is safe for concurrent use.
type Source struct {
	*shared
	impersonate impersonation
	closed      atomic.Bool

	mu   sync.Mutex
	made []*RoundTripper
}

// shared is what all sources of one configuration have in common.
type shared struct {
	pool    *Pool
	config  execcredential.ExecConfig
	cluster *execcredential.Cluster
	info    map[bool]func() (string, error) // by whether the run is interactive; made once
	hints   hints
	users   int // guarded by pool.mu

	current atomic.Pointer[snapshot] // nil: ask state

	mu      sync.Mutex
	state   state
	last    *snapshot // the newest, whether usable or not
	timer   *time.Timer
	retired bool
}

// snapshot is a credential as requests read it, without a lock.
type snapshot struct {
	credential *execcredential.Credential
	identity   *tls.Certificate // one pointer for as long as the certificate stays the same
	header     []string         // the value of Authorization; nil without a token
	serial     uint64           // counts the answers of a source
	until      int64            // the last usable moment, in Unix nanoseconds
	accepted   atomic.Bool      // the server has answered something else than 401
}

func newShared(pool *Pool, config execcredential.ExecConfig, cluster *execcredential.Cluster) *shared {
	s := &shared{pool: pool, config: config}
	if cluster != nil {
		copied := *cluster
		s.cluster = &copied
	}
	s.info = map[bool]func() (string, error){false: s.infoOf(false), true: s.infoOf(true)}
	s.state.backoff = pool.options.Backoff
	if config.InteractiveMode != execcredential.InteractiveNever && pool.options.Terminal != nil && !config.StdinUnavailable {
		s.state.free = 1 // each run may be somebody's login
	}
	return s
}

func (s *shared) infoOf(interactive bool) func() (string, error) {
	return sync.OnceValues(func() (string, error) { return execcredential.Info(s.config, s.cluster, interactive) })
}

// Credential returns a usable credential, and runs the plugin when there is none at hand.
//
// Callers wait together for one run; each leaves when its own context ends, with a *[WaitError]. A run that is not
// interactive goes on without callers up to its time limit, so that callers in a hurry do not keep a slow plugin from
// ever answering, and its credential is kept. An interactive run, which has no limit, ends with its last caller.
// [Pool.Close] ends both. Every other error is a *[PluginError] that unwraps to the reason: *[BackoffError] at once
// during a pause, *[InteractiveError], *[execcredential.PolicyError], the errors of [pluginexec.Lookup] and
// [pluginexec.Run], those of [execcredential.ParseAnswer], [ErrClosed].
func (s *Source) Credential(ctx context.Context) (*execcredential.Credential, error) {
	snap, err := s.acquire(ctx)
	if err != nil {
		return nil, err
	}
	return snap.credential, nil
}

// GetClientCertificate is for the field of that name in a [tls.Config] that the caller keeps, beside [Source.Wrap]. An
// answer without a certificate is an empty certificate: the server decides. Errors are those of Credential.
func (s *Source) GetClientCertificate(info *tls.CertificateRequestInfo) (*tls.Certificate, error) {
	snap, err := s.acquire(info.Context())
	if err != nil {
		return nil, err
	}
	if snap.identity == nil {
		return &tls.Certificate{}, nil
	}
	return snap.identity, nil
}

// Reset forgets the credential and ends a pause, for a user who has just repaired a login. A run in flight goes on.
func (s *Source) Reset() {
	s.shared.mu.Lock()
	defer s.shared.mu.Unlock()
	s.current.Store(nil)
	s.state = state{backoff: s.state.backoff, free: s.state.free}
}

// Close closes idle connections of the source's round trippers and lets the pool forget the configuration when it needs
// the room. It returns nil.
func (s *Source) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed.Swap(true) {
		return nil
	}
	for _, rt := range s.made {
		rt.retire()
	}
	s.pool.leave(s.shared)
	return nil
}

// acquire returns a usable snapshot, without a lock when there is one.
func (s *shared) acquire(ctx context.Context) (*snapshot, error) {
	if snap := s.fresh(); snap != nil {
		return snap, nil
	}
	call, snap, err := s.join(ctx)
	if call != nil {
		snap, err = call.Wait(ctx)
	}
	var left *flight.LeftError
	switch {
	case errors.As(err, &left):
		return nil, &WaitError{Command: s.config.Command, Waited: left.Waited, Err: ctx.Err()}
	case err != nil:
		return nil, s.explained(err)
	}
	return snap, nil
}

func (s *shared) fresh() *snapshot {
	snap := s.current.Load()
	if snap == nil || snap.until != math.MaxInt64 && s.pool.options.now().UnixNano() > snap.until {
		return nil
	}
	return snap
}

// refuse records a 401 for the credential of snap.
func (s *shared) refuse(snap *snapshot) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.state = s.state.refuse(s.pool.options.now(), snap.credential, snap.accepted.Load(), rand.Float64())
	s.current.CompareAndSwap(snap, nil)
}

// publish makes credential what requests read. It is called with the lock held, after state has taken it.
func (s *shared) publish(credential *execcredential.Credential) *snapshot {
	next := &snapshot{credential: credential, identity: credential.Certificate(), until: math.MaxInt64}
	if token := credential.Token(); !token.IsEmpty() {
		next.header = []string{"Bearer " + token.Reveal()}
	}
	if until, _ := s.state.usableUntil(); !until.IsZero() && until.Year() < 2200 { // beyond that nanoseconds overflow
		next.until = until.UnixNano()
	}
	if s.last != nil {
		next.serial = s.last.serial + 1
	}
	s.rotated(next)
	s.last = next
	s.current.Store(next)
	return next
}

// rotated keeps the identity of an unchanged certificate, and reports a changed one.
func (s *shared) rotated(next *snapshot) {
	before := s.last
	if before != nil && sameCertificate(before.identity, next.identity) {
		next.identity = before.identity
		return
	}
	if before != nil && before.identity != nil {
		s.pool.options.Metrics.rotated(s.pool.options.now().Sub(before.identity.Leaf.NotBefore))
	}
	var notAfter time.Time
	if next.identity != nil {
		notAfter = next.identity.Leaf.NotAfter
	}
	s.pool.expires(s, notAfter)
}

// sameCertificate reports whether both are the same chain, or nil. Of equal chains the keys are equal too: each fits
// its leaf.
func sameCertificate(a, b *tls.Certificate) bool {
	if a == nil || b == nil {
		return a == b
	}
	return slices.EqualFunc(a.Certificate, b.Certificate, bytes.Equal)
}

// retire ends the source for good.
func (s *shared) retire() {
	s.mu.Lock()
	s.retired = true
	s.current.Store(nil)
	if s.timer != nil {
		s.timer.Stop()
	}
	s.pool.flights.End(s, ErrClosed)
	s.mu.Unlock()
	s.pool.expires(s, time.Time{})
}
