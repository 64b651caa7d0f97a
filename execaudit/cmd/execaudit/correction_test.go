package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/lanyard-dev/lanyard/execaudit/attribution/report"
)

// On 21 November, in minutes after 04:00.
const (
	lateReuse = `{"kind":"Event","apiVersion":"audit.k8s.io/v1","auditID":"id-a","stage":"ResponseStarted","requestURI":"/exec?command=sh\u0026container=app","user":{"username":"mallory","groups":["ops"]},"objectRef":{"resource":"pods","namespace":"mail","name":"mx-0","subresource":"exec"},"responseStatus":{"code":101},"requestReceivedTimestamp":"2026-11-21T04:09:59Z","stageTimestamp":"2026-11-21T04:12:00Z"}` + "\n"
	otherPod  = `{"version":1,"kind":"intent","time":"2026-11-21T04:12:00Z","node":"n1","containerID":"8762eafc25a35ab9","execID":"e2","namespace":"mail","pod":"mx-0","container":"app"}` + "\n"
)

// later returns an event of a minute after 04:00, by which the time of earlier ones has passed.
func later(minute int) string {
	return fmt.Sprintf(`{"version":1,"event":"exec","time":"2026-11-21T04:%02d:00Z","node":"n1","containerID":"8762eafc25a3","process":{"pid":9,"startTicks":%d,"bootID":"b1"},"auditID":"id-a","argv":["later"]}`, minute, minute) + "\n"
}

// answersOf returns the JSON lines about a command.
func answersOf(t *testing.T, out, command string) (lines []report.Line) {
	t.Helper()
	for text := range strings.Lines(out) {
		var l report.Line
		if err := json.Unmarshal([]byte(text), &l); err != nil {
			t.Fatal(err)
		}
		if l.Command == command {
			lines = append(lines, l)
		}
	}
	return lines
}

func TestCorrected(t *testing.T) {
	audit, events, journal := file(t, auditLine+lateReuse), file(t, eventLine+later(11)+later(13)), file(t, intent)
	ask := func(more ...string) (code int, out, errOut string) {
		return command(t, "", append([]string{"attribute", "--audit", audit, "--journal", journal, "--events", events}, more...)...)
	}
	t.Run("ATT-16 JSON lines have the answer and its correction by an audit event that came after the window", func(t *testing.T) {
		code, out, errOut := ask("-o", "json")
		lines := answersOf(t, out, "sh -c id")
		if code != exitMatched || len(lines) != 2 || lines[0].Key != lines[1].Key || lines[0].User != "alice" || lines[0].Revision != 1 ||
			lines[1].User != "" || lines[1].Revision != 2 || len(lines[1].Claims) != 2 {
			t.Errorf("code %d\n%s%s", code, out, errOut)
		}
		if !strings.Contains(errOut, "corrected: ") {
			t.Errorf("nothing is said of a correction: %s", errOut)
		}
	})
	t.Run("ATT-16 --last leaves the correction alone, and a table has nothing else", func(t *testing.T) {
		_, out, _ := ask("-o", "json", "--last")
		if lines := answersOf(t, out, "sh -c id"); len(lines) != 1 || lines[0].User != "" || len(lines[0].Claims) != 2 {
			t.Errorf("lines\n%s", out)
		}
		for _, form := range []string{"table", "html"} {
			_, out, _ := ask("-o", form)
			if strings.Contains(out, "corroborated  alice") || strings.Contains(out, `"verdict":"corroborated"`) || !strings.Contains(out, "(alice, mallory?)") && !strings.Contains(out, "(mallory, alice?)") {
				t.Errorf("%s\n%s", form, out)
			}
		}
	})
	t.Run("ATT-16 what comes after --linger corrects nothing, and --linger is above 0", func(t *testing.T) {
		_, out, errOut := ask("-o", "json", "--linger", "1s")
		if lines := answersOf(t, out, "sh -c id"); len(lines) != 1 || lines[0].User != "alice" || strings.Contains(errOut, "corrected: ") {
			t.Errorf("lines\n%s%s", out, errOut)
		}
		if code, _, errOut := ask("--linger", "0s"); code != exitUsage || !strings.Contains(errOut, "--linger") {
			t.Errorf("code %d: %s", code, errOut)
		}
	})
}

func TestCorrectedAway(t *testing.T) {
	// Nothing says in which pod the process ran but the ID that it claims; then a journal says that it was another pod.
	audit, events, journal := file(t, auditLine), file(t, eventLine+later(11)+later(13)), file(t, otherPod)
	ask := func(more ...string) (code int, out, errOut string) {
		return command(t, "", append([]string{"attribute", "--audit", audit, "--journal", journal, "--events", events, "--pod", "web-0", "--command", "sh"}, more...)...)
	}
	t.Run("ATT-10 ATT-16 the correction of a match is printed though it does not match, and the last answers make the exit code", func(t *testing.T) {
		code, out, errOut := ask("-o", "json")
		lines := answersOf(t, out, "sh -c id")
		if len(lines) != 2 || lines[0].Pod != "" || lines[1].Pod != "mx-0" || lines[1].Revision != 2 || lines[0].Key != lines[1].Key {
			t.Errorf("lines\n%s%s", out, errOut)
		}
		if code != exitNothing {
			t.Errorf("exit code %d: %s", code, errOut)
		}
	})
	t.Run("ATT-10 ATT-16 final answers that do not match are not printed", func(t *testing.T) {
		for _, args := range [][]string{{"-o", "json", "--last"}, {"-o", "table"}} {
			if code, out, errOut := ask(args...); code != exitNothing || out != "" {
				t.Errorf("%q: code %d\n%s%s", args, code, out, errOut)
			}
		}
	})
}

func TestFinalOrder(t *testing.T) {
	t.Run("ATT-9 ATT-16 a table of final answers is in the order of time", func(t *testing.T) {
		var events strings.Builder
		events.WriteString(eventLine)
		for minute := 11; minute < 40; minute++ {
			events.WriteString(later(minute ^ 1)) // each second one comes a minute late
		}
		_, out, _ := command(t, "", "attribute", "--audit", file(t, auditLine+lateReuse), "--journal", file(t, intent), "--events", file(t, events.String()))
		rows := strings.Split(strings.TrimSpace(out), "\n")[1:]
		for i := range rows[1:] {
			if rows[i] > rows[i+1] {
				t.Errorf("%s\ncomes before\n%s", rows[i], rows[i+1])
			}
		}
		if len(rows) != 30 {
			t.Errorf("%d rows\n%s", len(rows), out)
		}
	})
}

// following is the command with --follow, on files that grow.
type following struct {
	audit, events string
	out           *bufio.Reader
	code          chan int
	cancel        context.CancelFunc
}

func follow(t *testing.T, more ...string) *following {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	f := &following{audit: file(t, ""), events: file(t, ""), code: make(chan int, 1), cancel: cancel}
	r, w := io.Pipe()
	f.out = bufio.NewReader(r)
	go func() {
		defer w.Close()
		f.code <- run(ctx, append([]string{"attribute", "--audit", f.audit, "--events", f.events, "--follow", "--window", "1s"}, more...), streams{nil, w, io.Discard})
	}()
	t.Cleanup(cancel)
	return f
}

// end interrupts the command and returns its exit code.
func (f *following) end() int {
	f.cancel()
	_, _ = io.Copy(io.Discard, f.out)
	return <-f.code
}

// until returns the lines up to the first that has a text in it.
func (f *following) until(t *testing.T, text string) (lines []string) {
	t.Helper()
	for {
		line, err := f.out.ReadString('\n')
		if err != nil {
			t.Fatalf("no %q in %q: %v", text, lines, err)
		}
		lines = append(lines, line)
		if strings.Contains(line, text) {
			return lines
		}
	}
}

// grow appends text to a file, with its times of 21 November moved so that 04:10 is now.
func grow(t *testing.T, path, text string) {
	t.Helper()
	for minute := range 20 {
		at := time.Now().UTC().Add(time.Duration(minute-10) * time.Minute).Truncate(time.Second)
		text = strings.ReplaceAll(text, fmt.Sprintf("2026-11-21T04:%02d:00", minute), at.Format("2006-01-02T15:04:05"))
	}
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString(text); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestFollowCorrected(t *testing.T) {
	reuse := strings.NewReplacer("04:09:59Z", "04:10:00Z", "04:12:00Z", "04:10:00Z").Replace(lateReuse)
	t.Run("ATT-16 --follow prints a correction when it comes, with the name of what it replaces", func(t *testing.T) {
		f := follow(t, "--user", "alice")
		grow(t, f.audit, auditLine)
		grow(t, f.events, eventLine)
		lines := f.until(t, "(alice?)")
		first := lines[len(lines)-1]
		grow(t, f.audit, reuse)
		lines = append(lines, f.until(t, "conflicting")...)
		second := lines[len(lines)-1]
		if name := first[:8]; !strings.HasPrefix(lines[0], "ANSWER ") || !strings.Contains(first, " hint ") || !strings.HasPrefix(second, name+"#") || second[:10] <= first[:10] ||
			!strings.Contains(second, "mallory") || !strings.Contains(second, "# corrected: ") {
			t.Errorf("lines %q", lines)
		}
		if code := f.end(); code != exitMatched {
			t.Errorf("exit code %d", code)
		}
	})
	t.Run("ATT-16 --follow prints corrections as JSON lines with the next revision", func(t *testing.T) {
		f := follow(t, "-o", "json")
		grow(t, f.audit, auditLine)
		grow(t, f.events, eventLine)
		text := f.until(t, `"verdict":"hint"`)
		grow(t, f.audit, reuse)
		text = append(text, f.until(t, `"verdict":"conflicting"`)...)
		lines := answersOf(t, strings.Join(text, ""), "sh -c id")
		if len(lines) < 2 || len(lines[len(lines)-1].Claims) != 2 {
			t.Errorf("lines %q", text)
		}
		for i, l := range lines {
			if l.Key != lines[0].Key || l.Revision != i+1 {
				t.Errorf("line %d %+v", i, l)
			}
		}
		if code := f.end(); code != exitMatched {
			t.Errorf("exit code %d", code)
		}
	})
}
