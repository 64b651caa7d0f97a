//go:build linux

package main_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/lanyard-dev/lanyard/execaudit/bridge/oci"
	"github.com/lanyard-dev/lanyard/execaudit/bridge/spool"
)

// turn is one of the things that are measured in turns.
type turn struct {
	name string
	run  func() *exec.Cmd
	took []time.Duration
}

func (t *turn) median() time.Duration {
	slices.Sort(t.took)
	return t.took[len(t.took)/2]
}

// inTurns runs each once for every iteration and reports the medians, in ms, and what each costs over the first.
func inTurns(b *testing.B, turns ...*turn) {
	for b.Loop() {
		for _, turn := range turns {
			cmd := turn.run()
			began := time.Now()
			if out, err := cmd.CombinedOutput(); err != nil {
				b.Fatalf("%s: %v: %s", turn.name, err, out)
			}
			turn.took = append(turn.took, time.Since(began))
		}
	}
	first := turns[0].median()
	b.ReportMetric(ms(first), turns[0].name+"-ms")
	for _, turn := range turns[1:] {
		b.ReportMetric(ms(turn.median()-first), turn.name+"-more-ms")
	}
	b.ReportMetric(0, "ns/op") // the sum of all, which says nothing
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// BenchmarkWrapperStart is what stands before the runtime, here a program that ends at once: nothing, a program of C
// that does nothing else, the wrapper without and with a token. The record's syncs are in the last.
func BenchmarkWrapperStart(b *testing.B) {
	n := newNode(b, runtimes(b)[0])
	n.configure(func(c *oci.Config) { c.Runtime = "/bin/true" })
	command := []string{"/probe", "report"}
	call := func(program string, args func() []string) func() *exec.Cmd {
		return func() *exec.Cmd { _, cmd := n.prepare(program, attempt{args: args()}); return cmd }
	}
	plain := func() []string { return command }
	signed := func() []string {
		element, _ := n.sign(command, false, nil)
		return append([]string{element}, command...)
	}
	turns := []*turn{
		{name: "runtime", run: call("/bin/true", plain)},
		{name: "plain", run: call(n.path("lanyard oci"), plain)},
		{name: "token", run: call(n.path("lanyard oci"), signed)},
	}
	if front := front(b); front != "" {
		turns = append(turns, &turn{name: "c", run: func() *exec.Cmd {
			cmd := call(front, plain)()
			cmd.Args = slices.Insert(cmd.Args, 1, "/bin/true")
			return cmd
		}})
	}
	inTurns(b, turns...)
}

// BenchmarkWrapperExec is a whole exec in a container: by the runtime alone, through the wrapper without and with a
// token.
func BenchmarkWrapperExec(b *testing.B) {
	for _, r := range runtimes(b) {
		b.Run(r.name, func(b *testing.B) {
			n := newNode(b, r)
			command := []string{"/probe", "exit=0"}
			run := func(program string, sign bool) func() *exec.Cmd {
				return func() *exec.Cmd {
					args := command
					if sign {
						element, _ := n.sign(command, false, nil)
						args = append([]string{element}, command...)
					}
					_, cmd := n.prepare(program, attempt{args: args})
					return cmd
				}
			}
			inTurns(b,
				&turn{name: "runtime", run: run(r.path, false)},
				&turn{name: "plain", run: run(n.path("lanyard oci"), false)},
				&turn{name: "token", run: run(n.path("lanyard oci"), true)},
			)
		})
	}
}

// BenchmarkSync is the record alone: one file, written and synced with its directory.
func BenchmarkSync(b *testing.B) {
	dir := b.TempDir()
	var took turn
	for i := uint32(0); b.Loop(); i++ {
		began := time.Now()
		claim, err := spool.Take(dir, [16]byte{byte(i), byte(i >> 8), byte(i >> 16)})
		if err == nil {
			err = claim.Commit(spool.Record{Argv: []string{"/probe", "report"}})
		}
		if err != nil {
			b.Fatal(err)
		}
		took.took = append(took.took, time.Since(began))
	}
	b.ReportMetric(ms(took.median()), "median-ms")
}

// front compiles the program of C, "" where there is no compiler.
func front(b *testing.B) string {
	compiler, err := exec.LookPath("cc")
	if err != nil {
		return ""
	}
	path := filepath.Join(b.TempDir(), "front")
	if out, err := exec.Command(compiler, "-O2", "-static", "-o", path, "testdata/front.c").CombinedOutput(); err != nil {
		b.Logf("no program of C: %v: %s", err, out)
		return ""
	}
	if _, err := os.Stat(path); err != nil {
		b.Fatal(err)
	}
	return path
}
