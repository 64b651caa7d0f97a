package reporter_test

import (
	"encoding/json"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/lanyard-dev/lanyard/criconformance/reporter"
)

func TestMainFunction(t *testing.T) {
	t.Run("CON-5 a program that is not asked goes on", func(t *testing.T) {
		for _, args := range [][]string{nil, {"x"}, {"x", "-test.run=Y"}, {"x", "say", reporter.Argument}} {
			if code, asked := reporter.Main(args, nil, nil); asked || code != 0 {
				t.Errorf("Main(%q) = %d, %v", args, code, asked)
			}
		}
	})
	t.Run("CON-5 an unknown command is an error", func(t *testing.T) {
		var out, errs strings.Builder
		code, asked := reporter.Main([]string{"x", reporter.Argument, "dance"}, &out, &errs)
		if code != 1 || !asked || errs.String() == "" || out.String() != "" {
			t.Errorf("Main = %d, %v, %q, %q", code, asked, out.String(), errs.String())
		}
	})
	t.Run("CON-5 it says what the kernel says", func(t *testing.T) {
		if runtime.GOOS != "linux" {
			t.Skip("there is no /proc")
		}
		var out, errs strings.Builder
		if code, _ := reporter.Main([]string{"x", reporter.Argument, reporter.Say}, &out, &errs); code != 0 {
			t.Fatal(errs.String())
		}
		m, err := reporter.Parse([]byte(out.String()))
		if err != nil || len(m.Self.Env) == 0 || !slices.IsSorted(m.Self.Groups) || m.Self.CapEff == "" {
			t.Errorf("Parse = %+v, %v", m, err)
		}
	})
}

func TestParse(t *testing.T) {
	t.Run("CON-2 every message comes back, whatever bytes its values have", func(t *testing.T) {
		rapid.Check(t, func(t *rapid.T) {
			var want reporter.Message
			for range rapid.IntRange(1, 5).Draw(t, "entries") {
				want.Self.Env = append(want.Self.Env, reporter.Variable{Name: rapid.StringMatching(`[A-Z]+`).Draw(t, "name"), Value: rapid.SliceOfN(rapid.Byte(), 1, 20).Draw(t, "value")})
			}
			want.Self.Groups = rapid.SliceOfN(rapid.Int64(), 1, 5).Draw(t, "groups")
			b, err := json.Marshal(want)
			if err != nil {
				t.Fatal(err)
			}
			// A terminal adds carriage returns.
			got, err := reporter.Parse(append(b, "\r\n"...))
			if err != nil || !reflect.DeepEqual(got, want) {
				t.Fatalf("Parse = %+v, %v, want %+v", got, err, want)
			}
		})
	})
	t.Run("CON-5 more than its bound is refused", func(t *testing.T) {
		if _, err := reporter.Parse(make([]byte, reporter.MaxMessage+1)); err == nil {
			t.Error("no error")
		}
	})
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"self":{"env":[{"name":"A","value":"/w=="}]}}` + "\r\n"))
	f.Add([]byte(""))
	f.Add([]byte("OCI runtime exec failed"))
	f.Fuzz(func(t *testing.T, b []byte) {
		m, err := reporter.Parse(b)
		if err != nil {
			return
		}
		for _, v := range m.Self.Env {
			if !slices.Contains(m.Self.Values(v.Name), string(v.Value)) {
				t.Fatalf("Values(%q) lacks one", v.Name)
			}
		}
	})
}
