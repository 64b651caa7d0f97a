package server

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"net/url"
	"strings"
	"testing"
	"time"
)

// criLog has three lines, the second in two parts.
const criLog = "2026-01-01T00:00:00.000000001Z stdout F one\n" +
	"2026-01-01T00:00:01.000000001Z stdout P tw\n" +
	"2026-01-01T00:00:01.000000001Z stdout F o\n" +
	"2026-01-01T00:00:02.000000001Z stderr F three\n"

func TestContainerLog(t *testing.T) {
	for _, c := range []struct{ name, query, want string }{
		{"everything", "", "one\ntwo\nthree\n"},
		{"the last line", "tailLines=1", "three\n"},
		{"no line", "tailLines=0", ""},
		{"more lines than there are", "tailLines=99", "one\ntwo\nthree\n"},
		{"so many bytes", "limitBytes=5", "one\nt"},
		{"no byte", "limitBytes=0", ""},
		{"since a time", "sinceTime=2026-01-01T00:00:02Z", "three\n"},
		{"with times", "tailLines=1&timestamps=true", "2026-01-01T00:00:02.000000001Z three\n"},
		{
			"one time for a line that came in parts", "tailLines=3&timestamps=true",
			"2026-01-01T00:00:01.000000001Z two\n2026-01-01T00:00:02.000000001Z three\n",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			query, err := url.ParseQuery(c.query)
			if err != nil {
				t.Fatal(err)
			}
			o, err := parseLogOptions(query)
			if err != nil {
				t.Fatal(err)
			}
			var got bytes.Buffer
			if err := o.copy(t.Context(), &got, strings.NewReader(criLog), nil); err != nil {
				t.Fatal(err)
			}
			if got.String() != c.want {
				t.Errorf("log with %q = %q, want %q", c.query, got.String(), c.want)
			}
		})
	}
}

func TestLineThatIsNoneOfALog(t *testing.T) {
	for _, line := range []string{"\n", "text\n", "time stdout  text\n", "a b c\n"} {
		var got bytes.Buffer
		o := logOptions{tail: -1, limit: -1}
		if err := o.copy(t.Context(), &got, strings.NewReader(line+"2026-01-01T00:00:00Z stdout F on\n"), nil); err != nil {
			t.Fatal(err)
		}
		if !strings.HasSuffix(got.String(), "on\n") {
			t.Errorf("log after the line %q = %q, want the next line", line, got.String())
		}
	}
}

func TestFollowAsksOnlyAtTheEnd(t *testing.T) {
	asked := 0
	o := logOptions{follow: true, tail: -1, limit: -1}
	if err := o.copy(t.Context(), &bytes.Buffer{}, strings.NewReader(criLog), func() bool { asked++; return false }); err != nil {
		t.Fatal(err)
	}
	if asked != 1 {
		t.Errorf("the runtime was asked %d times for a log of 4 lines, want once", asked)
	}
}

func TestBadLogOptions(t *testing.T) {
	_, err := parseLogOptions(url.Values{"tailLines": {"-1"}, "limitBytes": {"x"}, "sinceTime": {"yesterday"}})
	for _, part := range []string{"tailLines", "limitBytes", "sinceTime"} {
		if err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("error = %v, want one that names %s too", err, part)
		}
	}
}

// TestTailOfLongLog holds the search from the end against a log that is larger than
// its block, with lines of every length.
func TestTailOfLongLog(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	var log, text []string
	for i := range 5000 {
		line := fmt.Sprintf("%d %s\n", i, strings.Repeat("x", random.IntN(40)))
		text = append(text, line)
		log = append(log, "2026-01-01T00:00:00Z stdout F "+line)
	}
	for _, n := range []int{1, 2, 100, 3000, 4999, 5000, 5001} {
		o := logOptions{tail: int64(n), limit: -1}
		var got bytes.Buffer
		if err := o.copy(t.Context(), &got, strings.NewReader(strings.Join(log, "")), nil); err != nil {
			t.Fatal(err)
		}
		if want := strings.Join(text[max(0, len(text)-n):], ""); got.String() != want {
			t.Errorf("the last %d lines are %d bytes, want %d", n, got.Len(), len(want))
		}
	}
}

// growing is a log that gets a line whenever its reader has come to its end.
type growing struct {
	*strings.Reader
	more []string
}

func (g *growing) Read(p []byte) (int, error) {
	n, err := g.Reader.Read(p)
	if n == 0 && len(g.more) > 0 {
		g.Reader = strings.NewReader(g.more[0])
		g.more = g.more[1:]
	}
	return n, err
}

func TestFollowEndsWithTheContainer(t *testing.T) {
	log := &growing{strings.NewReader(criLog), []string{"2026-01-01T00:00:03Z stdout F fo", "ur\n", "2026-01-01T00:00:04Z stdout F five\n"}}
	var got bytes.Buffer
	o := logOptions{follow: true, tail: -1, limit: -1}
	started := time.Now()
	if err := o.copy(t.Context(), &got, log, func() bool { return len(log.more) > 0 }); err != nil {
		t.Fatal(err)
	}
	if want := "one\ntwo\nthree\nfour\nfive\n"; got.String() != want {
		t.Errorf("followed log = %q, want %q", got.String(), want)
	}
	if waited := time.Since(started); waited > 5*time.Second {
		t.Errorf("following took %v", waited)
	}
}
