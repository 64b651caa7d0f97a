package reporter_test

import (
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/lanyard-dev/lanyard/criconformance/internal/message"
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
		if code, _ := reporter.Main([]string{"x", reporter.Argument, message.Say}, &out, &errs); code != 0 {
			t.Fatal(errs.String())
		}
		m, err := message.Parse([]byte(out.String()))
		if err != nil || len(m.Self.Env) == 0 || !slices.IsSorted(m.Self.Groups) || m.Self.CapEff == "" {
			t.Errorf("Parse = %+v, %v", m, err)
		}
	})
}
