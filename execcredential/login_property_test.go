package execcredential_test

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

func TestLogin(t *testing.T) {
	broken := errors.New("broken")
	decide := func(t *testing.T, login execcredential.Login, now time.Time, want execcredential.Action) error {
		t.Helper()
		got, err := login.Decide(now)
		if got != want {
			t.Errorf("Decide(+%v) = %v, %v, want %v", now.Sub(start), got, err, want)
		}
		return err
	}
	t.Run("ECR-7 the first request runs, the next use the answer until it expires, then one runs again", func(t *testing.T) {
		var login execcredential.Login
		decide(t, login, start, execcredential.Run)
		login = login.Succeeded(start, token(t, start.Add(time.Hour)), 0)
		decide(t, login, start.Add(time.Hour), execcredential.Use)
		decide(t, login, start.Add(time.Hour+1), execcredential.Run)
	})
	t.Run("ECR-13 after a failure callers get the last error until the pause ends", func(t *testing.T) {
		login := execcredential.Login{}.Failed(start, broken, 0)
		var backoff *execcredential.BackoffError
		if err := decide(t, login, start, execcredential.Fail); !errors.As(err, &backoff) || !errors.Is(err, broken) || backoff.Failures != 1 {
			t.Errorf("Decide = %v, want *BackoffError around the last error", err)
		}
		decide(t, login, start.Add(execcredential.DefaultBackoffBase-1), execcredential.Fail)
		decide(t, login, start.Add(execcredential.DefaultBackoffBase), execcredential.Run)
	})
	t.Run("ECR-13 ECR-20 a failed refresh leaves a valid credential in use", func(t *testing.T) {
		login := execcredential.Login{}.Succeeded(start, token(t, start.Add(time.Hour)), 0).Failed(start, broken, 0)
		decide(t, login, start, execcredential.Use)
	})
	t.Run("ECR-9 a refused credential is not used again, whatever its expiry, and the plugin runs", func(t *testing.T) {
		credential := token(t, start.Add(time.Hour))
		login := execcredential.Login{}.Succeeded(start, credential, 0).Refused(start, credential, true, 0)
		decide(t, login, start, execcredential.Run)
		decide(t, login.Failed(start, broken, 0), start, execcredential.Fail)
	})
	t.Run("ECR-9 a refusal counts once per credential", func(t *testing.T) {
		credential := token(t, time.Time{})
		login := execcredential.Login{FreeRefusals: 1}.Succeeded(start, credential, 0).Refused(start, credential, false, 0)
		decide(t, login.Refused(start, credential, false, 0), start, execcredential.Run)
	})
	t.Run("ECR-9 a refusal of an older credential tells nothing about the new one", func(t *testing.T) {
		old, current := token(t, time.Time{}), token(t, time.Time{})
		login := execcredential.Login{}.Succeeded(start, old, 0).Succeeded(start, current, 0).Refused(start, old, true, 0)
		decide(t, login, start, execcredential.Use)
	})
	t.Run("ECR-9 refusals of every new credential bring a pause, an accepted one none", func(t *testing.T) {
		for _, accepted := range []bool{false, true} {
			var login execcredential.Login
			for range execcredential.FreeRefusals + 1 {
				credential := token(t, time.Time{})
				login = login.Succeeded(start, credential, 0).Refused(start, credential, accepted, 0)
			}
			want := execcredential.Fail
			if accepted {
				want = execcredential.Run
			}
			if err := decide(t, login, start, want); !accepted && !errors.Is(err, execcredential.ErrRefused) {
				t.Errorf("Decide = %v, want ErrRefused", err)
			}
		}
	})
	t.Run("ECR-13 an answer that had expired when it came is used during the pause, not replaced for each request", func(t *testing.T) {
		login := execcredential.Login{}.Succeeded(start, token(t, start.Add(-time.Minute)), 0)
		decide(t, login, start, execcredential.Use)
		decide(t, login, start.Add(execcredential.DefaultBackoffBase-1), execcredential.Use)
		decide(t, login, start.Add(execcredential.DefaultBackoffBase), execcredential.Run)
	})
	t.Run("ECR-20 a plugin that repeats an old answer is not refreshed in a loop", func(t *testing.T) {
		login := execcredential.Login{}.Succeeded(start, token(t, start.Add(time.Nanosecond)), 0)
		if got := login.RefreshAt(); got.Before(start.Add(execcredential.DefaultBackoffBase)) {
			t.Errorf("RefreshAt = +%v, want at least the first pause", got.Sub(start))
		}
	})
}

// TestLoginLaws drives the state with random events and checks what must hold in every state.
func TestLoginLaws(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		var login execcredential.Login
		now := start
		var failed time.Time
		for range rapid.IntRange(1, 60).Draw(rt, "steps") {
			now = now.Add(time.Duration(rapid.Int64Range(0, int64(2*time.Second)).Draw(rt, "passes")))
			action, err := login.Decide(now)
			checkState(rt, login, now, action, err)
			if action == execcredential.Run && now.Sub(failed) < execcredential.DefaultBackoffBase/2 {
				rt.Fatalf("Decide = Run %v after a failure", now.Sub(failed))
			}
			switch {
			case action == execcredential.Run && rapid.Bool().Draw(rt, "fails"):
				login = login.Failed(now, errors.New("x"), rapid.Float64Range(0, 1).Draw(rt, "jitter"))
				failed = now
			case action == execcredential.Run:
				life := time.Duration(rapid.Int64Range(int64(-time.Second), int64(3*time.Second)).Draw(rt, "life"))
				login = login.Succeeded(now, token(rt, now.Add(life)), rapid.Float64Range(0, 1).Draw(rt, "jitter"))
			case action == execcredential.Use && rapid.Bool().Draw(rt, "refused"):
				login = login.Refused(now, login.Credential(), rapid.Bool().Draw(rt, "accepted"), 0)
			}
		}
	})
}

func checkState(rt *rapid.T, login execcredential.Login, now time.Time, action execcredential.Action, err error) {
	if (err != nil) != (action == execcredential.Fail) {
		rt.Fatalf("Decide = %v, %v: an error comes with Fail and only with it", action, err)
	}
	if action == execcredential.Use && login.Credential() == nil {
		rt.Fatal("Decide = Use without a credential")
	}
	if action == execcredential.Fail && !now.Before(login.Pause()) {
		rt.Fatal("Decide = Fail after the pause")
	}
	until, ok := login.UsableUntil()
	if action == execcredential.Use && (!ok || !until.IsZero() && now.After(until)) {
		rt.Fatalf("Decide(%v) = Use, but UsableUntil = %v, %v", now, until, ok)
	}
	if ok && (until.IsZero() || !now.After(until)) && action != execcredential.Use {
		rt.Fatalf("Decide(%v) = %v, but UsableUntil = %v", now, action, until)
	}
}

func TestBackoffLaws(t *testing.T) {
	t.Run("ECR-13 the pause doubles up to its bound and loses at most half by jitter", func(t *testing.T) {
		rapid.Check(t, func(rt *rapid.T) {
			backoff := execcredential.Backoff{
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
	t.Run("no failure is no pause", func(t *testing.T) {
		if got := (execcredential.Backoff{}).Delay(0, 0); got != 0 {
			t.Errorf("Delay(0) = %v, want 0", got)
		}
	})
}
