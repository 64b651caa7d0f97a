package wire_test

import (
	"bytes"
	"errors"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/lanyard-dev/lanyard/execaudit/attribution/internal/wire"
)

// value is one of what can be written.
type value struct {
	write func(*wire.Writer)
	read  func(*wire.Reader) bool // whether it is the same
}

func values() *rapid.Generator[value] {
	return rapid.Custom(func(t *rapid.T) value {
		switch rapid.IntRange(0, 4).Draw(t, "type") {
		case 0:
			n := rapid.Uint64().Draw(t, "uint")
			return value{func(w *wire.Writer) { w.Uint(n) }, func(r *wire.Reader) bool { return r.Uint() == n }}
		case 1:
			n := rapid.Int64().Draw(t, "int")
			return value{func(w *wire.Writer) { w.Int(n) }, func(r *wire.Reader) bool { return r.Int() == n }}
		case 2:
			b := rapid.Bool().Draw(t, "bool")
			return value{func(w *wire.Writer) { w.Bool(b) }, func(r *wire.Reader) bool { return r.Bool() == b }}
		case 3:
			at := time.Unix(rapid.Int64Range(-1<<40, 1<<40).Draw(t, "seconds"), rapid.Int64Range(0, 999_999_999).Draw(t, "nano")).UTC()
			return value{func(w *wire.Writer) { w.Time(at) }, func(r *wire.Reader) bool { return r.Time() == at }}
		}
		text := string(rapid.SliceOf(rapid.Byte()).Draw(t, "text"))
		return value{func(w *wire.Writer) { w.Text(text) }, func(r *wire.Reader) bool { return r.Text() == text }}
	})
}

func TestRoundTrip(t *testing.T) {
	t.Run("ATT-17 what is written is read, and nothing of what was cut or changed is taken for whole", func(t *testing.T) {
		rapid.Check(t, func(t *rapid.T) {
			list := rapid.SliceOfN(values(), 0, 50).Draw(t, "values")
			var b bytes.Buffer
			w := wire.NewWriter(&b)
			for _, v := range list {
				v.write(w)
			}
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
			read := func(text []byte) error {
				r := wire.NewReader(bytes.NewReader(text))
				for i, v := range list {
					if !v.read(r) && r.Err() == nil && bytes.Equal(text, b.Bytes()) {
						t.Fatalf("value %d is another", i)
					}
				}
				return r.Close()
			}
			if err := read(b.Bytes()); err != nil {
				t.Fatal(err)
			}
			cut := rapid.IntRange(0, b.Len()-1).Draw(t, "cut")
			if err := read(b.Bytes()[:cut]); !errors.Is(err, wire.ErrCorrupt) {
				t.Fatalf("cut to %d of %d bytes: %v", cut, b.Len(), err)
			}
			changed := bytes.Clone(b.Bytes())
			changed[cut] ^= 1 << rapid.IntRange(0, 7).Draw(t, "bit")
			if err := read(changed); !errors.Is(err, wire.ErrCorrupt) {
				t.Fatalf("byte %d changed: %v", cut, err)
			}
		})
	})
	t.Run("ATT-17 a text takes no more room than there is of it", func(t *testing.T) {
		huge := []byte{0xff, 0xff, 0xff, 0xff, 0x07, 'a'}
		allocated := testing.AllocsPerRun(1, func() {
			r := wire.NewReader(bytes.NewReader(huge))
			if r.Text() != "" || !errors.Is(r.Err(), wire.ErrCorrupt) {
				t.Error("read")
			}
		})
		if allocated > 100 {
			t.Errorf("%v allocations", allocated)
		}
	})
}
