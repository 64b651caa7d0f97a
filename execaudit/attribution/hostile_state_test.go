package attribution_test

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"testing"
	"time"

	"github.com/lanyard-dev/lanyard/execaudit/attribution"
	"pgregory.net/rapid"
)

// busy returns the state of a machine that knows something of everything.
func busy(t *testing.T) []byte {
	t.Helper()
	x := newAttack(true)
	l := newStream(attribution.Options{})
	x.victim.ExecSession = "S"
	intent, start := intended(x.victim)
	end := start
	end.Phase, end.Time = attribution.PhaseEnd, dawn.Add(time.Second)
	x.alice.ExecSession, intent.LoginUID = "S", 7
	l.add(x.with(intent, start, end, x.escaped)...)
	l.add(x.journal...)
	l.Advance(after(0))
	late := x.silent
	late.Time = after(0)
	l.add(late, child(late, 40, 900))
	return saved(t, l.Machine)
}

// signed replaces the sum at the end of a state.
func signed(state []byte) []byte {
	body := state[:len(state)-sha256.Size]
	sum := sha256.Sum256(body)
	return append(bytes.Clone(body), sum[:]...)
}

func TestHostileState(t *testing.T) {
	state := busy(t)
	t.Run("ATT-17 a session whose ID is not one is refused", func(t *testing.T) {
		short := bytes.Replace(state, []byte("\x0eexec session\x00S"), []byte("\x01x"), 1)
		if bytes.Equal(short, state) {
			t.Fatal("no session in the state")
		}
		if _, err := attribution.Restore(bytes.NewReader(signed(short)), attribution.Options{}, ignore); !errors.Is(err, attribution.ErrState) {
			t.Errorf("Restore = %v, want %v", err, attribution.ErrState)
		}
	})
	t.Run("ATT-17 nonsense with a right sum is refused, or is harmless", func(t *testing.T) {
		x := newAttack(true)
		rapid.Check(t, func(t *rapid.T) {
			changed := bytes.Clone(state)
			for range rapid.IntRange(1, 8).Draw(t, "changes") {
				at := rapid.IntRange(0, len(changed)-sha256.Size-1).Draw(t, "at")
				changed[at] = rapid.Byte().Draw(t, "byte")
			}
			m, err := attribution.Restore(bytes.NewReader(signed(changed)), attribution.Options{MaxBytes: 1 << 20}, ignore)
			if err != nil {
				return
			}
			l := &stream{Machine: m}
			l.add(x.with(x.journal...)...)
			m.Advance(after(time.Hour))
			m.Flush()
			if err := m.Save(&bytes.Buffer{}); err != nil {
				t.Fatal(err)
			}
		})
	})
}
