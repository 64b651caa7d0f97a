package keys

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/lanyard-dev/lanyard/execaudit/bridge/cmd/lanyard-bridge/internal/usage"
	"github.com/lanyard-dev/lanyard/execaudit/bridge/token"
)

// keysCommand runs the command and returns what it printed.
func keysCommand(t *testing.T, args ...string) (out, errs string, err error) {
	t.Helper()
	c := Command()
	var o, e bytes.Buffer
	c.SetArgs(args)
	c.SetOut(&o)
	c.SetErr(&e)
	c.SilenceErrors, c.SilenceUsage = true, true
	err = c.Execute()
	if strings.Contains(o.String()+e.String(), "lanyard-exec-key:") || err != nil && strings.Contains(err.Error(), "lanyard-exec-key:1:") {
		t.Fatalf("a private key is printed: %s%s%v", &o, &e, err)
	}
	return o.String(), e.String(), err
}

func TestFile(t *testing.T) {
	name := filepath.Join(t.TempDir(), "key")
	must := func(args ...string) string {
		t.Helper()
		out, _, err := keysCommand(t, args...)
		if err != nil {
			t.Fatalf("keys %q: %v", args, err)
		}
		return out
	}
	private := func() []Private {
		t.Helper()
		keys, err := readFile(name)
		if err != nil {
			t.Fatal(err)
		}
		return keys
	}
	t.Run("BRG-9 a new key is for its owner alone, and its public part printed for nodes", func(t *testing.T) {
		out := must("new", name)
		printed, err := token.ParseKeys(out)
		if err != nil || !slices.Equal(printed, public(private())) || must("public", name) != out {
			t.Fatalf("%q, %v", out, err)
		}
		if info, err := os.Stat(name); err != nil || info.Mode() != 0o600 {
			t.Fatalf("%v, %v", info.Mode(), err)
		}
	})
	t.Run("BRG-9 a key that is there is left alone", func(t *testing.T) {
		before := private()
		if _, _, err := keysCommand(t, "new", name); !errors.Is(err, fs.ErrExist) || !slices.Equal(public(private()), public(before)) {
			t.Fatalf("new = %v", err)
		}
	})
	t.Run("BRG-2 a rotation: the new key first, the old one beside it, then alone", func(t *testing.T) {
		old := private()[0].Public()
		link := filepath.Join(t.TempDir(), "link")
		if err := errors.Join(os.Chmod(name, 0o640), os.Symlink(name, link)); err != nil {
			t.Fatal(err)
		}
		must("rotate", link)
		both := public(private())
		if len(both) != 2 || both[1] != old || both[0] == old {
			t.Fatalf("%v after rotate, want a new one before %v", both, old)
		}
		if info, err := os.Lstat(name); err != nil || info.Mode() != 0o640 {
			t.Fatalf("%v, %v; want the mode as it was", info.Mode(), err)
		}
		if out := must("list", name); out != both[0].ID().String()+" signs\n"+old.ID().String()+" signs for nodes without the first\n" {
			t.Fatalf("list: %q", out)
		}
		if _, _, err := keysCommand(t, "rotate", name); !errors.Is(err, errRotating) {
			t.Fatalf("rotate again = %v", err)
		}
		must("retire", name)
		if got := public(private()); !slices.Equal(got, both[:1]) {
			t.Fatalf("%v after retire, want %v", got, both[:1])
		}
		if _, _, err := keysCommand(t, "retire", name); !errors.Is(err, errNothingToRetire) {
			t.Fatalf("retire again = %v", err)
		}
	})
	t.Run("BRG-9 nothing is left beside the file", func(t *testing.T) {
		entries, err := os.ReadDir(filepath.Dir(name))
		if err != nil || len(entries) != 1 {
			t.Fatalf("%v, %v", entries, err)
		}
	})
	t.Run("BRG-9 wrong command lines", func(t *testing.T) {
		for _, args := range [][]string{{}, {"new"}, {"new", "a", "b"}, {"rotate", "a", "b"}, {"install", "x"}} {
			if _, _, err := keysCommand(t, args...); !errors.As(err, new(usage.Error)) {
				t.Fatalf("keys %q = %v, want a usage error", args, err)
			}
		}
		if _, _, err := keysCommand(t, "public", name+"none"); !errors.Is(err, fs.ErrNotExist) {
			t.Fatalf("public = %v", err)
		}
	})
}

func TestParse(t *testing.T) {
	a, b, c := token.NewKey(), token.NewKey(), token.NewKey()
	t.Run("BRG-2 the order is the preference", func(t *testing.T) {
		got, err := Parse([]byte("\n# a comment\n" + a.Reveal() + " 2026-11-22T12:00:00Z \r\n\n" + b.Reveal()))
		if err != nil || !slices.Equal(public(got), token.Keys{a.Public(), b.Public()}) {
			t.Fatalf("%v, %v", public(got), err)
		}
		again, err := Parse([]byte(text(got)))
		if err != nil || !slices.Equal(public(again), public(got)) || again[0].From.Hour() != 12 || !again[1].From.IsZero() {
			t.Fatalf("%v, %v", public(again), err)
		}
	})
	for name, bad := range map[string]string{
		"nothing": "", "comments alone": "# x\n", "a public key": a.Public().String(), "dirt": a.Reveal() + "\nhush",
		"a key twice": a.Reveal() + "\n" + a.Reveal(), "no time behind it": a.Reveal() + " soon", "three keys": a.Reveal() + "\n" + b.Reveal() + "\n" + c.Reveal(),
	} {
		t.Run("BRG-9 not a key file: "+name, func(t *testing.T) {
			if _, err := Parse([]byte(bad)); err == nil || strings.Contains(err.Error(), "hush") || strings.Contains(err.Error(), a.Reveal()) {
				t.Fatalf("Parse = %v", err)
			}
		})
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(token.NewKey().Reveal()))
	f.Add([]byte("#\n\n" + token.NewKey().Reveal() + "\n" + token.NewKey().Reveal()))
	f.Fuzz(func(t *testing.T, data []byte) {
		keys, err := Parse(data)
		if err != nil {
			return
		}
		again, err := Parse([]byte(text(keys)))
		if err != nil || !slices.Equal(public(again), public(keys)) {
			t.Fatalf("%v, %v; want %v", public(again), err, public(keys))
		}
	})
}
