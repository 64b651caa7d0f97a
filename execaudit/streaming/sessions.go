package streaming

import (
	"container/list"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"sync"
	"time"
	"unique"

	"github.com/lanyard-dev/lanyard/envprecedence"
)

// Defaults of Options. The time and the number are cri-streaming's own for its
// requests.
const (
	// DefaultTTL is how long an environment waits for its stream.
	DefaultTTL = time.Minute
	// DefaultMaxSessions is how many may wait at once.
	DefaultMaxSessions = 1000
	// DefaultMaxBytes is how many bytes of names and values may wait at once.
	DefaultMaxBytes = 64 << 20 // 64 MiB
)

// Errors of Put.
var (
	// ErrNoToken: the URL has no token.
	ErrNoToken = errors.New("streaming URL has no token")
	// ErrTokenInUse: an environment waits under this token already.
	ErrTokenInUse = errors.New("streaming token is in use")
	// ErrFull: MaxSessions or MaxBytes is reached. A runtime answers
	// ResourceExhausted.
	ErrFull = errors.New("too many exec sessions wait for their stream")
)

// Options bounds Sessions. The zero value takes every default.
type Options struct {
	// TTL is how long an environment waits; 0 means DefaultTTL. It must not be
	// shorter than the streaming server's own.
	TTL time.Duration
	// MaxSessions is how many may wait at once; 0 means DefaultMaxSessions.
	MaxSessions int
	// MaxBytes is how many bytes may wait at once; 0 means DefaultMaxBytes.
	MaxBytes int
	// Now is the clock; nil means time.Now.
	Now func() time.Time
}

// Sessions holds the environments that wait for their streams. It starts no
// goroutine: the next Put, stream or Len removes what has expired. It is
// safe for concurrent use. Make one with New.
type Sessions struct {
	options Options

	mu      sync.Mutex
	byToken map[tokenHandle]*list.Element
	byAge   *list.List // of *session, oldest first
	bytes   int
}

// tokenHandle is a streaming token, which is as good as a password. fmt prints a handle as an address, in whatever it
// stands.
type tokenHandle = unique.Handle[string]

type session struct {
	token   tokenHandle
	envs    []envprecedence.Entry
	bytes   int
	expires time.Time
}

// New returns an empty Sessions.
func New(options Options) *Sessions {
	if options.TTL == 0 {
		options.TTL = DefaultTTL
	}
	if options.MaxSessions == 0 {
		options.MaxSessions = DefaultMaxSessions
	}
	if options.MaxBytes == 0 {
		options.MaxBytes = DefaultMaxBytes
	}
	if options.Now == nil {
		options.Now = time.Now
	}
	return &Sessions{options: options, byToken: make(map[tokenHandle]*list.Element), byAge: list.New()}
}

// Put keeps a copy of envs, which may be empty, for the stream that will be
// opened at streamURL, as returned by the streaming server's GetExec. The token
// is the last element of the URL's path.
//
// Errors: ErrNoToken, ErrTokenInUse, ErrFull, each wrapped or plain. After an
// error the stream will be refused, so Exec must fail.
func (s *Sessions) Put(streamURL string, envs []envprecedence.Entry) error {
	u, err := url.Parse(streamURL)
	if err != nil {
		return fmt.Errorf("%w: it does not parse", ErrNoToken)
	}
	_, token := lastTwo(u.Path)
	if token == "" {
		return ErrNoToken
	}
	return s.put(&session{token: unique.Make(token), envs: append([]envprecedence.Entry(nil), envs...), bytes: size(envs)})
}

func (s *Sessions) put(waiting *session) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.options.Now()
	s.expire(now)
	if s.byToken[waiting.token] != nil {
		return ErrTokenInUse
	}
	if len(s.byToken) >= s.options.MaxSessions || s.bytes+waiting.bytes > s.options.MaxBytes {
		return ErrFull
	}
	waiting.expires = now.Add(s.options.TTL)
	s.byToken[waiting.token] = s.byAge.PushBack(waiting)
	s.bytes += waiting.bytes
	return nil
}

// take removes and returns what waits under token. Only one caller gets it.
func (s *Sessions) take(token string) ([]envprecedence.Entry, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.expire(s.options.Now())
	waiting := s.byToken[unique.Make(token)]
	if waiting == nil {
		return nil, false
	}
	return s.remove(waiting).envs, true
}

// Len returns how many sessions wait for their stream.
func (s *Sessions) Len() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.expire(s.options.Now())
	return len(s.byToken)
}

func (s *Sessions) expire(now time.Time) {
	for oldest := s.byAge.Front(); oldest != nil; oldest = s.byAge.Front() {
		if now.Before(oldest.Value.(*session).expires) {
			return
		}
		s.remove(oldest)
	}
}

func (s *Sessions) remove(waiting *list.Element) *session {
	gone := s.byAge.Remove(waiting).(*session)
	delete(s.byToken, gone.token)
	s.bytes -= gone.bytes
	return gone
}

func size(envs []envprecedence.Entry) int {
	bytes := 0
	for i := range envs {
		bytes += len(envs[i].Name) + len(envs[i].Value.Reveal())
	}
	return bytes
}

// lastTwo returns the last two elements of a path, empty ones left out, "" for
// what is missing.
func lastTwo(path string) (endpoint, token string) {
	elements := strings.FieldsFunc(path, func(r rune) bool { return r == '/' })
	if n := len(elements); n >= 2 {
		return elements[n-2], elements[n-1]
	}
	return "", ""
}
