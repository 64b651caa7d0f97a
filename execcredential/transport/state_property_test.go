package transport

import (
	"errors"
	"testing"
	"time"

	"github.com/lanyard-dev/lanyard/execcredential"
	"github.com/lanyard-dev/lanyard/execcredential/internal/loginlab"
	"pgregory.net/rapid"
)

var start = time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)

func token(t interface{ Fatal(...any) }, expires time.Time) *execcredential.Credential {
	credential, err := execcredential.ParseAnswer([]byte(loginlab.Answer(execcredential.V1, "t", "", "", expires)), execcredential.V1)
	if err != nil {
		t.Fatal(err)
	}
	return credential
}

func TestState(t *testing.T) {
	broken := errors.New("broken")
	decide := func(t *testing.T, s state, now time.Time, want action) error {
		t.Helper()
		got, err := s.decide(now)
		if got != want {
			t.Errorf("decide(+%v) = %v, %v, want %v", now.Sub(start), got, err, want)
		}
		return err
	}
	t.Run("ECR-7 the first request runs, the next use the answer until it expires, then one runs again", func(t *testing.T) {
		var s state
		decide(t, s, start, actionRun)
		s = s.succeeded(start, token(t, start.Add(time.Hour)), 0)
		decide(t, s, start.Add(time.Hour), actionUse)
		decide(t, s, start.Add(time.Hour+1), actionRun)
	})
	t.Run("ECR-13 after a failure callers get the last error until the pause ends", func(t *testing.T) {
		s := state{}.failed(start, broken, 0)
		var backoff *BackoffError
		if err := decide(t, s, start, actionFail); !errors.As(err, &backoff) || !errors.Is(err, broken) || backoff.Failures != 1 {
			t.Errorf("decide = %v, want *BackoffError around the last error", err)
		}
		decide(t, s, start.Add(DefaultBackoffBase-1), actionFail)
		decide(t, s, start.Add(DefaultBackoffBase), actionRun)
	})
	t.Run("ECR-13 ECR-20 a failed refresh leaves a valid credential in use", func(t *testing.T) {
		s := state{}.succeeded(start, token(t, start.Add(time.Hour)), 0).failed(start, broken, 0)
		decide(t, s, start, actionUse)
	})
	t.Run("ECR-9 a refused credential is not used again, whatever its expiry, and the plugin runs", func(t *testing.T) {
		credential := token(t, start.Add(time.Hour))
		s := state{}.succeeded(start, credential, 0).refuse(start, credential, true, 0)
		decide(t, s, start, actionRun)
		decide(t, s.failed(start, broken, 0), start, actionFail)
	})
	t.Run("ECR-9 a refusal counts once per credential", func(t *testing.T) {
		credential := token(t, time.Time{})
		s := state{free: 1}.succeeded(start, credential, 0).refuse(start, credential, false, 0)
		decide(t, s.refuse(start, credential, false, 0), start, actionRun)
	})
	t.Run("ECR-9 a refusal of an older credential tells nothing about the new one", func(t *testing.T) {
		old, current := token(t, time.Time{}), token(t, time.Time{})
		s := state{}.succeeded(start, old, 0).succeeded(start, current, 0).refuse(start, old, true, 0)
		decide(t, s, start, actionUse)
	})
	t.Run("ECR-9 refusals of every new credential bring a pause, an accepted one none", func(t *testing.T) {
		for _, accepted := range []bool{false, true} {
			var s state
			for range freeRefusals + 1 {
				credential := token(t, time.Time{})
				s = s.succeeded(start, credential, 0).refuse(start, credential, accepted, 0)
			}
			want := actionFail
			if accepted {
				want = actionRun
			}
			if err := decide(t, s, start, want); !accepted && !errors.Is(err, ErrRefused) {
				t.Errorf("decide = %v, want ErrRefused", err)
			}
		}
	})
	t.Run("ECR-13 an answer that had expired when it came is used during the pause, not replaced for each request", func(t *testing.T) {
		s := state{}.succeeded(start, token(t, start.Add(-time.Minute)), 0)
		decide(t, s, start, actionUse)
		decide(t, s, start.Add(DefaultBackoffBase-1), actionUse)
		decide(t, s, start.Add(DefaultBackoffBase), actionRun)
	})
	t.Run("ECR-20 a plugin that repeats an old answer is not refreshed in a loop", func(t *testing.T) {
		s := state{}.succeeded(start, token(t, start.Add(time.Nanosecond)), 0)
		if got := s.refreshAt(); got.Before(start.Add(DefaultBackoffBase)) {
			t.Errorf("refreshAt = +%v, want at least the first pause", got.Sub(start))
		}
	})
}

// TestStateLaws drives the state with random events and checks what must hold in every state.
func TestStateLaws(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		var s state
		now := start
		var lastFailure time.Time
		for range rapid.IntRange(1, 60).Draw(rt, "steps") {
			now = now.Add(time.Duration(rapid.Int64Range(0, int64(2*time.Second)).Draw(rt, "passes")))
			do, err := s.decide(now)
			checkState(rt, s, now, do, err)
			if do == actionRun && now.Sub(lastFailure) < DefaultBackoffBase/2 {
				rt.Fatalf("decide = actionRun %v after a failure", now.Sub(lastFailure))
			}
			switch {
			case do == actionRun && rapid.Bool().Draw(rt, "fails"):
				s = s.failed(now, errors.New("x"), rapid.Float64Range(0, 1).Draw(rt, "jitter"))
				lastFailure = now
			case do == actionRun:
				life := time.Duration(rapid.Int64Range(int64(-time.Second), int64(3*time.Second)).Draw(rt, "life"))
				s = s.succeeded(now, token(rt, now.Add(life)), rapid.Float64Range(0, 1).Draw(rt, "jitter"))
			case do == actionUse && rapid.Bool().Draw(rt, "refused"):
				s = s.refuse(now, s.credential, rapid.Bool().Draw(rt, "accepted"), 0)
			}
		}
	})
}

func checkState(rt *rapid.T, s state, now time.Time, do action, err error) {
	if (err != nil) != (do == actionFail) {
		rt.Fatalf("decide = %v, %v: an error comes with actionFail and only with it", do, err)
	}
	if do == actionUse && s.credential == nil {
		rt.Fatal("decide = actionUse without a credential")
	}
	if do == actionFail && !now.Before(s.pause) {
		rt.Fatal("decide = actionFail after the pause")
	}
	until, ok := s.usableUntil()
	if do == actionUse && (!ok || !until.IsZero() && now.After(until)) {
		rt.Fatalf("decide(%v) = actionUse, but usableUntil = %v, %v", now, until, ok)
	}
	if ok && (until.IsZero() || !now.After(until)) && do != actionUse {
		rt.Fatalf("decide(%v) = %v, but usableUntil = %v", now, do, until)
	}
}

func TestRefresh(t *testing.T) {
	expires := start.Add(24 * time.Hour)
	t.Run("ECR-20 a refresh is due at 99% of the life of a token from receipt, of a certificate from NotBefore", func(t *testing.T) {
		if got, want := lastPercent(token(t, expires), expires.Add(-100*time.Minute)), expires.Add(-time.Minute); !got.Equal(want) {
			t.Errorf("lastPercent(token) = %v, want %v", got, want)
		}
		certificate, key := loginlab.NewAuthority(t).Client(t, "u", expires.Add(-200*time.Minute), time.Minute)
		both, err := execcredential.ParseAnswer([]byte(loginlab.Answer(execcredential.V1, "t", certificate, key, expires)), execcredential.V1)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := lastPercent(both, expires.Add(-100*time.Minute)), expires.Add(-2*time.Minute); !got.Equal(want) {
			t.Errorf("lastPercent(certificate) = %v, want %v", got, want)
		}
	})
}

func TestBackoffLaws(t *testing.T) {
	t.Run("ECR-13 the pause doubles up to its bound and loses at most half by jitter", func(t *testing.T) {
		rapid.Check(t, func(rt *rapid.T) {
			backoff := Backoff{
				Base: time.Duration(rapid.Int64Range(1, int64(time.Hour)).Draw(rt, "base")),
				Max:  time.Duration(rapid.Int64Range(1, int64(time.Hour)).Draw(rt, "max")),
			}
			n := rapid.IntRange(1, 100).Draw(rt, "failures")
			full, next := backoff.Delay(n, 0), backoff.Delay(n+1, 0)
			if full <= 0 || full > backoff.Max || next < full || next > 2*full {
				rt.Fatalf("Delay(%d), Delay(%d) = %v, %v with %+v", n, n+1, full, next, backoff)
			}
			if got := backoff.Delay(n, rapid.Float64Range(0, 1).Draw(rt, "jitter")); got > full || got < full/2 {
				rt.Fatalf("Delay with jitter = %v, want %v to %v", got, full/2, full)
			}
		})
	})
	t.Run("the pause after no failure is 0", func(t *testing.T) {
		if got := (Backoff{}).Delay(0, 0); got != 0 {
			t.Errorf("Delay(0) = %v, want 0", got)
		}
	})
}
