package reporter_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/lanyard-dev/lanyard/criconformance/reporter"
	"github.com/lanyard-dev/lanyard/envprecedence"
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
				value := rapid.SliceOfN(rapid.Byte(), 0, 20).Draw(t, "value")
				want.Self.Env = append(want.Self.Env, envprecedence.NewEntry(rapid.StringMatching(`[A-Z]+`).Draw(t, "name"), string(value)))
			}
			want.Self.Groups = rapid.SliceOfN(rapid.Int64(), 1, 5).Draw(t, "groups")
			var b bytes.Buffer
			if err := reporter.Write(&b, want); err != nil {
				t.Fatal(err)
			}
			// A terminal adds carriage returns.
			got, err := reporter.Parse(bytes.ReplaceAll(b.Bytes(), []byte("\n"), []byte("\r\n")))
			if err != nil || !reflect.DeepEqual(got, want) {
				t.Fatalf("Parse = %+v, %v, want %+v", got, err, want)
			}
		})
	})
	t.Run("MOD-9 a message shows without values, by fmt and in JSON", func(t *testing.T) {
		m := reporter.Message{Self: reporter.Process{Env: []envprecedence.Entry{envprecedence.NewEntry("TOKEN", "hunter2")}}}
		text, err := json.Marshal(m)
		for _, shown := range []string{string(text), fmt.Sprintf("%v %+v %#v", m, m, m)} {
			if err != nil || strings.Contains(shown, "hunter2") || strings.Contains(shown, "aHVudGVyMg") || !strings.Contains(shown, "TOKEN") {
				t.Errorf("a message shows as %s, %v", shown, err)
			}
		}
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
			if !slices.Contains(m.Self.Values(v.Name), v.Value.Reveal()) {
				t.Fatalf("Values(%q) lacks one", v.Name)
			}
		}
	})
}
