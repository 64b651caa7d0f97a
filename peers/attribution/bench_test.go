package attribution_test

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"

	"github.com/lanyard-dev/lanyard/execaudit/attribution"
	"github.com/lanyard-dev/lanyard/execaudit/attribution/join"
	"github.com/lanyard-dev/lanyard/execaudit/attribution/lines"
	peers "github.com/lanyard-dev/lanyard/peers/attribution"
)

// scale is the share of the full size that is generated: LANYARD_BENCH_SCALE, 1 for the published measurement.
func scale(tb testing.TB) float64 {
	text := os.Getenv("LANYARD_BENCH_SCALE")
	if text == "" {
		return 0.02
	}
	n, err := strconv.ParseFloat(text, 64)
	if err != nil {
		tb.Fatal(err)
	}
	return n
}

// input is a set of generated files. bytes is what the first two have: the journal is for us alone, the others join by
// the ID that every event has.
type input struct {
	audit, events, journal string
	bytes                  int64
	logs                   peers.Logs
}

func inputIn(dir string) input {
	return input{audit: filepath.Join(dir, "audit.log"), events: filepath.Join(dir, "events.json"), journal: filepath.Join(dir, "journal.log")}
}

func generate(tb testing.TB, l peers.Logs) input {
	tb.Helper()
	in := inputIn(tb.TempDir())
	in.logs = l
	in.bytes = write(tb, in.audit, l.WriteAudit) + write(tb, in.events, l.WriteEvents)
	write(tb, in.journal, l.WriteJournal)
	return in
}

// BenchmarkJoin joins both logs, each contender in its own way, and counts the events that got a user.
func BenchmarkJoin(b *testing.B) {
	in := generate(b, peers.Full.Times(scale(b)))
	for _, c := range contenders {
		b.Run("logs/"+c.name, func(b *testing.B) {
			join := c.start(b, in)
			b.SetBytes(in.bytes)
			for b.Loop() {
				found = join()
			}
		})
	}
}

// BenchmarkGrowth shows that time grows with the input and not with its square.
func BenchmarkGrowth(b *testing.B) {
	for _, times := range []int{1, 4, 16} {
		in := generate(b, peers.Full.Times(scale(b)/16*float64(times)))
		for _, c := range []struct {
			name string
			join func(testing.TB, input) int
		}{{"floor", count}, {"lanyard", ours}} {
			b.Run(strconv.Itoa(times)+"x/"+c.name, func(b *testing.B) {
				b.SetBytes(in.bytes)
				for b.Loop() {
					found = c.join(b, in)
				}
			})
		}
	}
}

// found keeps the work from being left out.
var found int

func ours(tb testing.TB, in input) int {
	named := 0
	m := attribution.New(attribution.Options{}, func(a *attribution.Answer) {
		if a.Session != nil {
			named++
		}
	})
	var sources []*lines.Source
	for _, path := range []string{in.audit, in.events, in.journal} {
		sources = append(sources, &lines.Source{Files: []lines.Opener{lines.File(path, nil)}})
	}
	if err := join.Files(context.Background(), m, sources, join.Trouble{Fault: func(f *lines.Fault) { tb.Error(f) }}); err != nil {
		tb.Error(err)
	}
	return named
}

// count is what reading costs at least: wc -l of both files.
func count(tb testing.TB, in input) int {
	if err := exec.Command("wc", "-l", in.audit, in.events).Run(); err != nil {
		tb.Error(err)
	}
	return 0
}

// TestMemory runs our join in a process of its own and looks at its peak.
func TestMemory(t *testing.T) {
	if path := os.Getenv("LANYARD_JOIN_DIR"); path != "" {
		ours(t, inputIn(path))
		return
	}
	in := generate(t, peers.Full.Times(scale(t)))
	cmd := exec.Command(os.Args[0], "-test.run=^TestMemory$")
	cmd.Env = append(os.Environ(), "LANYARD_JOIN_DIR="+filepath.Dir(in.audit))
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage)
	if !ok {
		t.Skip("this system does not tell a process's peak memory")
	}
	const most = shadow * 256 << 10 // KiB
	t.Logf("peak %d KiB for %d bytes of input", usage.Maxrss, in.bytes)
	if usage.Maxrss > most {
		t.Errorf("peak %d KiB, want at most %d", usage.Maxrss, most)
	}
}

func write(tb testing.TB, path string, fill func(io.Writer) error) int64 {
	tb.Helper()
	f, err := os.Create(path)
	if err != nil {
		tb.Fatal(err)
	}
	if err := errors.Join(fill(f), f.Close()); err != nil {
		tb.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil {
		tb.Fatal(err)
	}
	return info.Size()
}
