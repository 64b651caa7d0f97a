package join_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/lanyard-dev/lanyard/execaudit/attribution"
	"github.com/lanyard-dev/lanyard/execaudit/attribution/join"
	"github.com/lanyard-dev/lanyard/execaudit/attribution/lines"
)

// answers joins sources with the options of a machine's default and returns what it says, with its counts.
func answers(t interface {
	Helper()
	Fatal(...any)
}, sources ...*lines.Source,
) (string, attribution.Stats) {
	t.Helper()
	var got named
	m := attribution.New(attribution.Options{}, got.add)
	if err := join.Files(context.Background(), m, sources, join.Trouble{}); err != nil {
		t.Fatal(err)
	}
	return got.sorted(), m.Stats()
}

// parts cuts a log into files of n lines.
func parts(log []string, n int) [][]string {
	return slices.Collect(slices.Chunk(log, n))
}

// every returns the lines that are i-th of n, as one of n servers would have written them.
func every(log []string, i, n int) (part []string) {
	for ; i < len(log); i += n {
		part = append(part, log[i])
	}
	return part
}

// backwards returns the files, the last first.
func backwards(files [][]string) [][]string {
	slices.Reverse(files)
	return files
}

// many is how many sessions take half an hour.
const many = 2571

func TestOrderOfFiles(t *testing.T) {
	audit, journal, events := logs(many)
	want := right(many)
	for _, c := range []struct {
		name    string
		sources []*lines.Source
	}{
		{"ATT-3 rotated files in the wrong order", []*lines.Source{
			source(backwards(parts(audit, 700))...), source(backwards(parts(journal, 300))...), source(backwards(parts(events, 500))...),
		}},
		{"ATT-3 the logs of three API servers in one list", []*lines.Source{
			source(every(audit, 0, 3), every(audit, 1, 3), every(audit, 2, 3)), source(journal), source(events),
		}},
		{"ATT-3 the events and the journals of three nodes in one list each", []*lines.Source{
			source(audit), source(every(journal, 0, 3), every(journal, 1, 3), every(journal, 2, 3)),
			source(slices.Concat(every(events, 0, 6), every(events, 1, 6)), slices.Concat(every(events, 2, 6), every(events, 3, 6)), slices.Concat(every(events, 4, 6), every(events, 5, 6))),
		}},
		{"ATT-3 everything in one list", []*lines.Source{source(slices.Concat(backwards(parts(events, 900)), backwards(parts(audit, 900)), parts(journal, 900))...)}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got, stats := answers(t, c.sources...); got != want {
				t.Errorf("%d of %d answers are right, %d events late", common(got, want), strings.Count(want, "\n")+1, stats.Late)
			}
		})
	}
}

// common counts the lines that both texts have.
func common(got, want string) (n int) {
	right := map[string]bool{}
	for line := range strings.Lines(want + "\n") {
		right[line] = true
	}
	for line := range strings.Lines(got + "\n") {
		if right[line] {
			n++
		}
	}
	return n
}

func TestOrderLaw(t *testing.T) {
	t.Run("ATT-3 ATT-6 logs cut into files in any way, in any order, in any lists give the answers of whole logs", func(t *testing.T) {
		rapid.Check(t, func(t *rapid.T) {
			n := rapid.IntRange(1, 400).Draw(t, "sessions")
			audit, journal, events := logs(n)
			random := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "cut"), 1))
			var files [][]string
			for _, log := range [][]string{audit, journal, events} {
				servers := 1 + random.IntN(3) // whose logs overlap
				for i := range servers {
					for part := every(log, i, servers); len(part) > 0; {
						size := 1 + random.IntN(len(part))
						files, part = append(files, part[:size]), part[size:]
					}
				}
			}
			random.Shuffle(len(files), func(i, j int) { files[i], files[j] = files[j], files[i] })
			sources := make([]*lines.Source, rapid.IntRange(1, 5).Draw(t, "lists"))
			for i := range sources {
				sources[i] = &lines.Source{}
			}
			for _, file := range files {
				s := sources[random.IntN(len(sources))]
				s.Files = append(s.Files, source(file).Files...)
			}
			if got, _ := answers(t, sources...); got != right(n) {
				t.Fatalf("answers\n%s\nwant\n%s", got, right(n))
			}
		})
	})
}

// far is a time that no log of this century has.
const far = "8999-01-01T00:00:00Z"

// hostile returns a line like another, of the far future and of a session of its own.
func hostile(like string) string {
	for _, key := range []string{`"time":"`, `"requestReceivedTimestamp":"`, `"stageTimestamp":"`} {
		if before, after, ok := strings.Cut(like, key); ok {
			_, after, _ = strings.Cut(after, `"`)
			like = before + key + far + `"` + after
		}
	}
	return strings.NewReplacer(`"id-`, `"far-`, `"exec-`, `"far-`, `"pid":1`, `"pid":99`).Replace(like)
}

func TestFarFuture(t *testing.T) {
	const n = 800
	var whole [3][]string
	whole[0], whole[1], whole[2] = logs(n)
	for _, at := range []int{0, 1, n / 2, n - 1, n} {
		for first, name := range []string{"all", "the later two", "the last"} {
			t.Run(fmt.Sprintf("ATT-14 one line of the far future at line %d of %s of the logs changes no other answer", at, name), func(t *testing.T) {
				logs := whole
				for i := first; i < len(logs); i++ {
					line := min(at+50*i, len(logs[i]))
					logs[i] = slices.Insert(slices.Clone(logs[i]), line, hostile(logs[i][0]))
				}
				got, stats := answers(t, source(logs[0]), source(logs[1]), source(logs[2]))
				if common(got, right(n)) != 2*n || stats.Late > 0 {
					t.Errorf("%d of %d answers are right, %+v", common(got, right(n)), 2*n, stats)
				}
			})
		}
	}
}

func TestWrongTimesLaw(t *testing.T) {
	t.Run("ATT-14 lines with wrong times, fewer than a third of their log, change no other answer", func(t *testing.T) {
		rapid.Check(t, func(t *rapid.T) {
			n := rapid.IntRange(1, 300).Draw(t, "sessions")
			var logged [3][]string
			logged[0], logged[1], logged[2] = logs(n)
			random := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "where"), 1))
			var sources []*lines.Source
			for _, log := range logged {
				var with []string
				for i, line := range log {
					if i%3 == 0 && random.IntN(2) == 0 {
						with = append(with, strings.ReplaceAll(hostile(log[0]), far, []string{far, "1970-01-01T00:00:00Z"}[random.IntN(2)]))
					}
					with = append(with, line)
				}
				cut := random.IntN(len(with) + 1)
				sources = append(sources, source(with[cut:], with[:cut]))
			}
			if got, stats := answers(t, sources...); common(got, right(n)) != 2*n {
				t.Fatalf("%d of %d answers are right, %+v", common(got, right(n)), 2*n, stats)
			}
		})
	})
}
