package streaming_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/lanyard-dev/lanyard/envprecedence"
	"github.com/lanyard-dev/lanyard/execaudit"
	"github.com/lanyard-dev/lanyard/execaudit/streaming"
	"github.com/lanyard-dev/lanyard/redact"
)

type env = envprecedence.Entry

// environ returns each entry as NAME=VALUE.
func environ(envs []env) (all []string) {
	for _, e := range envs {
		all = append(all, e.Name+"="+e.Value.Reveal())
	}
	return all
}

var session = []env{envprecedence.NewEntry(execaudit.AuditIDName, "id"), envprecedence.NewEntry("A", "1")}

// clock is a clock that stands still until told.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// server stands for the streaming server: it notes what each request brought.
type server struct {
	served int
	envs   []env
	ok     bool
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.served++
	s.envs, s.ok = streaming.FromContext(r.Context())
	w.WriteHeader(http.StatusOK)
}

func open(handler http.Handler, target string) int {
	w := httptest.NewRecorder()
	handler.ServeHTTP(w, httptest.NewRequest(http.MethodPost, target, nil))
	return w.Code
}

func mustPut(t *testing.T, s *streaming.Sessions, url string, envs []env) {
	t.Helper()
	if err := s.Put(url, envs); err != nil {
		t.Fatalf("Put(%s) = %v", url, err)
	}
}

func TestHandler(t *testing.T) {
	t.Run("the environment reaches the stream, once", func(t *testing.T) {
		sessions, next := streaming.New(streaming.Options{}), new(server)
		handler := sessions.Handler(next)
		mustPut(t, sessions, "http://127.0.0.1:1234/exec/t0ken", session)
		if code := open(handler, "/exec/t0ken"); code != http.StatusOK || !next.ok || !reflect.DeepEqual(next.envs, session) {
			t.Fatalf("first: %d, %t, %q", code, next.ok, environ(next.envs))
		}
		if code := open(handler, "/exec/t0ken"); code != http.StatusNotFound || next.served != 1 {
			t.Errorf("second: %d after %d served, want 404 after 1", code, next.served)
		}
		if sessions.Len() != 0 {
			t.Errorf("%d sessions left", sessions.Len())
		}
	})
	t.Run("a session without an environment", func(t *testing.T) {
		sessions, next := streaming.New(streaming.Options{}), new(server)
		mustPut(t, sessions, "/exec/t", nil)
		if code := open(sessions.Handler(next), "/exec/t"); code != http.StatusOK || !next.ok || next.envs != nil {
			t.Errorf("%d, %t, %v", code, next.ok, next.envs)
		}
	})
	t.Run("an exec stream nobody put is refused, so no audit ID is lost silently", func(t *testing.T) {
		next := new(server)
		handler := streaming.New(streaming.Options{}).Handler(next)
		for _, target := range []string{"/exec/t", "/exec/", "/exec", "/", "//exec//t", "/cri/exec/t/", "/other/t"} {
			if code := open(handler, target); code != http.StatusNotFound || next.served != 0 {
				t.Errorf("%s: %d, served %d", target, code, next.served)
			}
		}
	})
	t.Run("below a prefix, with stray slashes", func(t *testing.T) {
		sessions, next := streaming.New(streaming.Options{}), new(server)
		mustPut(t, sessions, "https://n:10010/cri/exec/t?x=y", session)
		if code := open(sessions.Handler(next), "/cri//exec/t/"); code != http.StatusOK || len(next.envs) != 2 {
			t.Errorf("%d, %q", code, environ(next.envs))
		}
	})
	t.Run("EXA-18 attach and port-forward pass and carry nothing", func(t *testing.T) {
		sessions, next := streaming.New(streaming.Options{}), new(server)
		handler := sessions.Handler(next)
		mustPut(t, sessions, "/exec/t", session)
		for i, target := range []string{"/attach/t", "/portforward/t", "/cri/attach/other"} {
			if code := open(handler, target); code != http.StatusOK || next.served != i+1 || next.ok || next.envs != nil {
				t.Errorf("%s: %d, served %d, %q", target, code, next.served, environ(next.envs))
			}
		}
		if sessions.Len() != 1 {
			t.Error("an attach took the exec session's environment")
		}
	})
	t.Run("a context from elsewhere", func(t *testing.T) {
		if envs, ok := streaming.FromContext(context.Background()); ok || envs != nil {
			t.Errorf("FromContext = %v, %t", envs, ok)
		}
	})
}

func TestPut(t *testing.T) {
	t.Run("the caller keeps its slice", func(t *testing.T) {
		sessions, next := streaming.New(streaming.Options{}), new(server)
		mine := []env{envprecedence.NewEntry("A", "1")}
		mustPut(t, sessions, "/exec/t", mine)
		mine[0].Value = redact.New("changed")
		open(sessions.Handler(next), "/exec/t")
		if got := environ(next.envs); !reflect.DeepEqual(got, []string{"A=1"}) {
			t.Errorf("the stream got %q", got)
		}
	})
	for _, url := range []string{"", "/", "http://n", "http://n/t", ":", "http://n/%zz/t"} {
		t.Run("no token in "+url, func(t *testing.T) {
			if err := streaming.New(streaming.Options{}).Put(url, session); !errors.Is(err, streaming.ErrNoToken) {
				t.Errorf("Put = %v, want %v", err, streaming.ErrNoToken)
			}
		})
	}
	t.Run("a token in use", func(t *testing.T) {
		sessions, next := streaming.New(streaming.Options{}), new(server)
		mustPut(t, sessions, "/exec/t", session)
		if err := sessions.Put("/exec/t", nil); !errors.Is(err, streaming.ErrTokenInUse) {
			t.Errorf("Put = %v, want %v", err, streaming.ErrTokenInUse)
		}
		if open(sessions.Handler(next), "/exec/t"); len(next.envs) != 2 {
			t.Error("the second Put replaced the first")
		}
	})
}

func TestBounds(t *testing.T) {
	t.Run("sessions", func(t *testing.T) {
		sessions := streaming.New(streaming.Options{MaxSessions: 2})
		mustPut(t, sessions, "/exec/1", nil)
		mustPut(t, sessions, "/exec/2", nil)
		if err := sessions.Put("/exec/3", nil); !errors.Is(err, streaming.ErrFull) {
			t.Errorf("Put = %v, want %v", err, streaming.ErrFull)
		}
		open(sessions.Handler(new(server)), "/exec/1")
		mustPut(t, sessions, "/exec/3", nil)
	})
	t.Run("bytes", func(t *testing.T) {
		sessions := streaming.New(streaming.Options{MaxBytes: 10})
		mustPut(t, sessions, "/exec/1", []env{envprecedence.NewEntry("ABC", "456")})
		if err := sessions.Put("/exec/2", []env{envprecedence.NewEntry("A", "2345")}); !errors.Is(err, streaming.ErrFull) {
			t.Errorf("Put = %v, want %v", err, streaming.ErrFull)
		}
		mustPut(t, sessions, "/exec/3", []env{envprecedence.NewEntry("A", "234")})
		open(sessions.Handler(new(server)), "/exec/1")
		mustPut(t, sessions, "/exec/2", []env{envprecedence.NewEntry("A", "23456")})
	})
	t.Run("time", func(t *testing.T) {
		now := &clock{now: time.Unix(1, 0)}
		sessions, next := streaming.New(streaming.Options{Now: now.Now, MaxSessions: 2}), new(server)
		handler := sessions.Handler(next)
		mustPut(t, sessions, "/exec/1", session)
		now.advance(streaming.DefaultTTL - time.Nanosecond)
		mustPut(t, sessions, "/exec/2", session)
		if sessions.Len() != 2 {
			t.Fatalf("Len = %d before the first expires", sessions.Len())
		}
		now.advance(time.Nanosecond)
		if code := open(handler, "/exec/1"); code != http.StatusNotFound || next.served != 0 {
			t.Errorf("a minute later: %d", code)
		}
		mustPut(t, sessions, "/exec/3", session) // the expired one no longer counts
		if code := open(handler, "/exec/2"); code != http.StatusOK || len(next.envs) != 2 {
			t.Errorf("the younger one: %d", code)
		}
		now.advance(time.Hour)
		if sessions.Len() != 0 {
			t.Errorf("Len = %d an hour later", sessions.Len())
		}
	})
}

func TestConcurrent(t *testing.T) {
	const tokens, clients = 50, 4
	sessions := streaming.New(streaming.Options{})
	var right, wrong atomic.Int32
	handler := sessions.Handler(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		envs, _ := streaming.FromContext(r.Context())
		if len(envs) == 1 && "/exec/"+envs[0].Value.Reveal() == r.URL.Path {
			right.Add(1)
		} else {
			wrong.Add(1)
		}
	}))
	var all sync.WaitGroup
	for i := range tokens {
		all.Go(func() {
			token := fmt.Sprint(i)
			if err := sessions.Put("/exec/"+token, []env{envprecedence.NewEntry("TOKEN", token)}); err != nil {
				t.Errorf("Put = %v", err)
			}
			var race sync.WaitGroup
			for range clients {
				race.Go(func() { open(handler, "/exec/"+token) })
			}
			race.Wait()
		})
	}
	all.Wait()
	if right.Load() != tokens || wrong.Load() != 0 || sessions.Len() != 0 {
		t.Errorf("%d of %d sessions got their own environment once, %d another's, %d left", right.Load(), tokens, wrong.Load(), sessions.Len())
	}
}

// TestModel runs random calls against the obvious map.
func TestModel(t *testing.T) {
	type waiting struct {
		value   string
		expires time.Time
	}
	rapid.Check(t, func(t *rapid.T) {
		const limit = 3
		now := &clock{now: time.Unix(0, 0)}
		sessions := streaming.New(streaming.Options{Now: now.Now, TTL: 10 * time.Second, MaxSessions: limit})
		model := map[string]waiting{}
		prune := func() {
			for token, w := range model {
				if !now.Now().Before(w.expires) {
					delete(model, token)
				}
			}
		}
		token := rapid.StringMatching(`[a-d]`)
		t.Repeat(map[string]func(*rapid.T){
			"put": func(t *rapid.T) {
				prune()
				key, value := token.Draw(t, "token"), rapid.StringMatching(`[0-9]{3}`).Draw(t, "value")
				_, taken := model[key]
				want := !taken && len(model) < limit
				if err := sessions.Put("/exec/"+key, []env{envprecedence.NewEntry("A", value)}); (err == nil) != want {
					t.Fatalf("Put = %v, want accepted: %t", err, want)
				}
				if want {
					model[key] = waiting{value, now.Now().Add(10 * time.Second)}
				}
			},
			"open": func(t *rapid.T) {
				prune()
				key := token.Draw(t, "token")
				want, found := model[key]
				delete(model, key)
				next := new(server)
				open(sessions.Handler(next), "/exec/"+key)
				if (next.served == 1) != found || found && next.envs[0].Value.Reveal() != want.value {
					t.Fatalf("open served %d, want %t", next.served, found)
				}
			},
			"wait": func(t *rapid.T) {
				now.advance(time.Duration(rapid.IntRange(1, 6).Draw(t, "seconds")) * time.Second)
			},
			"": func(t *rapid.T) {
				prune()
				if sessions.Len() != len(model) {
					t.Fatalf("Len = %d, want %d", sessions.Len(), len(model))
				}
			},
		})
	})
}

func FuzzPut(f *testing.F) {
	for _, seed := range []string{"http://n/exec/t", "/exec/t", "", "/", "//", "/exec/../t", "http://n/a/b/c/?x", "%zz/t"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, url string) {
		sessions := streaming.New(streaming.Options{})
		if err := sessions.Put(url, session); (err == nil) != (sessions.Len() == 1) || err != nil && len(url) > 9 && strings.Contains(err.Error(), url) {
			t.Fatalf("Put(%q) = %v, Len %d", url, err, sessions.Len())
		}
	})
}
