package attribution_test

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"testing"
	"testing/iotest"
	"time"

	"github.com/lanyard-dev/lanyard/execaudit/attribution"
)

// fataler is a test of any kind.
type fataler interface {
	Helper()
	Fatal(...any)
}

// saved returns the state of m.
func saved(t fataler, m *attribution.Machine) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := m.Save(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func ignore(*attribution.Answer) {}

// middle is a machine that has some of everything: answers that were given, events that wait, sessions that go on and,
// where there are many, what was evicted.
func middle(t testing.TB, sessions int) *attribution.Machine {
	t.Helper()
	m := newStream(attribution.Options{MaxBytes: middleBytes})
	for i := range sessions {
		id := fmt.Sprintf("id-%d", i%25)
		request, root := audit(id, fmt.Sprintf("user-%d", i)), first(id, 100+i, 100)
		shift := time.Duration(i) * 3 * time.Second
		request.Received, request.At, root.Time = request.Received.Add(shift), request.At.Add(shift), root.Time.Add(shift)
		request.User.Extra = map[string][]string{"k": {"v"}, "a": nil}
		root.Process.StartTicks, root.SessionID = uint64(100+i), uint32(1+i)
		intent, start := journalOf(root)
		start.SessionID, start.LoginUID = root.SessionID, 2013265920
		intent.SessionID, intent.Process.BootID = root.SessionID, "boot"
		m.add(request, intent, start, root, child(root, 500+i, 200+i*3000))
		m.Advance(root.Time)
	}
	return m.Machine
}

const (
	middleBytes = 96 << 10 // 96 KiB
	some, many  = 14, 100
)

func TestState(t *testing.T) {
	t.Run("ATT-17 a state has some of everything", func(t *testing.T) {
		s := middle(t, many).Stats()
		if s.EvictedAnswers == 0 || s.EvictedSessions == 0 || s.Pending == 0 || s.Processes == 0 {
			t.Errorf("%+v", s)
		}
		if s = middle(t, some).Stats(); s.Answers == 0 || s.Sessions == 0 {
			t.Errorf("%+v", s)
		}
	})
	t.Run("ATT-17 what is restored is saved as it was", func(t *testing.T) {
		for _, n := range []int{0, some, many} {
			state := saved(t, middle(t, n))
			again, err := attribution.Restore(bytes.NewReader(state), attribution.Options{MaxBytes: middleBytes}, ignore)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(saved(t, again), state) {
				t.Error("another state")
			}
			if got, want := again.Stats(), middle(t, n).Stats(); got != want {
				t.Errorf("%+v, want %+v", got, want)
			}
		}
	})
	t.Run("ATT-16 ATT-17 two machines that were told the same save the same", func(t *testing.T) {
		if !bytes.Equal(saved(t, middle(t, many)), saved(t, middle(t, many))) {
			t.Error("another state")
		}
	})
	t.Run("ATT-17 a state that was cut anywhere, or changed, or is of another version, is refused", func(t *testing.T) {
		state := saved(t, middle(t, some))
		refused := func(b []byte, what string) {
			t.Helper()
			if m, err := attribution.Restore(bytes.NewReader(b), attribution.Options{}, ignore); !errors.Is(err, attribution.ErrState) || m != nil {
				t.Errorf("%s: %v, %v", what, m, err)
			}
		}
		for n := 0; n < len(state); n += 3 {
			refused(state[:n], fmt.Sprintf("cut to %d of %d bytes", n, len(state)))
		}
		for n := 0; n < len(state); n += 7 {
			changed := bytes.Clone(state)
			changed[n] ^= 0x10
			refused(changed, fmt.Sprintf("byte %d changed", n))
		}
		another := bytes.Clone(state)
		another[1+len("lanyard attribution state")]++
		refused(another, "another version")
	})
	t.Run("ATT-17 the source's own error is returned", func(t *testing.T) {
		broken := errors.New("broken")
		state := saved(t, middle(t, some))
		for _, n := range []int{0, 3, 100, len(state) - 10} {
			_, err := attribution.Restore(io.MultiReader(bytes.NewReader(state[:n]), iotest.ErrReader(broken)), attribution.Options{}, ignore)
			if !errors.Is(err, broken) || errors.Is(err, attribution.ErrState) {
				t.Errorf("after %d bytes: %v", n, err)
			}
		}
		if err := middle(t, some).Save(full{broken}); !errors.Is(err, broken) {
			t.Errorf("Save: %v", err)
		}
	})
}

// full is a disk without room.
type full struct{ err error }

func (f full) Write([]byte) (int, error) { return 0, f.err }

func FuzzRestore(f *testing.F) {
	state := saved(f, middle(f, 2))
	f.Add(state[:len(state)-sha256.Size])
	empty := saved(f, attribution.New(attribution.Options{}, ignore))
	f.Add(empty[:len(empty)-sha256.Size])
	f.Fuzz(func(t *testing.T, body []byte) {
		sum := sha256.Sum256(body)
		m, err := attribution.Restore(bytes.NewReader(append(bytes.Clone(body), sum[:]...)), attribution.Options{}, ignore)
		if err != nil {
			if !errors.Is(err, attribution.ErrState) {
				t.Fatal(err)
			}
			return
		}
		root := first("id-1", 10, 100)
		m.AddEvent(&root)
		m.Advance(root.Time.Add(time.Hour))
		m.Advance(root.Time.Add(2 * time.Hour))
		m.Flush()
	})
}

func TestForgottenTogether(t *testing.T) {
	t.Run("ATT-17 of two sessions with one ID, the same one is remembered in a restored machine", func(t *testing.T) {
		whole := newStream(attribution.Options{})
		for i, end := range []time.Duration{10 * time.Second, 6 * time.Second} {
			intent, start := journalOf(first("id-a", 10+i, 1000+4000*i))
			over := start
			over.Phase, over.Time = attribution.PhaseEnd, dawn.Add(end)
			whole.add(intent, start, over)
		}
		restored, err := attribution.Restore(bytes.NewReader(saved(t, whole.Machine)), attribution.Options{}, ignore)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range []*attribution.Machine{whole.Machine, restored} {
			m.Advance(dawn.Add(time.Hour))
		}
		if !bytes.Equal(saved(t, whole.Machine), saved(t, restored)) {
			t.Error("another state")
		}
	})
}
