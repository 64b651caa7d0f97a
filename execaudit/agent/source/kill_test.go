//go:build linux

package source_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/lanyard-dev/lanyard/execaudit/agent"
	"github.com/lanyard-dev/lanyard/execaudit/agent/bpf"
	"github.com/lanyard-dev/lanyard/execaudit/agent/connector"
	"github.com/lanyard-dev/lanyard/execaudit/agent/internal/theatre"
	"github.com/lanyard-dev/lanyard/execaudit/agent/source"
)

// agentVariable makes the test binary an agent, which is what can be killed.
const agentVariable = "LANYARD_TEST_AGENT"

// watched is what an agent of these tests watches, and where its lines go.
type watched struct {
	PinDir, Journal, Lines string
	Logins                 uint32
	RingBytes              int
}

func TestMain(m *testing.M) {
	if text := os.Getenv(agentVariable); text != "" {
		if err := watchAlone(text); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

func watchAlone(text string) error {
	var w watched
	if err := json.Unmarshal([]byte(text), &w); err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), unix.SIGTERM)
	defer stop()
	reader, err := source.Open(source.ModeBPF, bpf.Options{
		PinDir: w.PinDir, MinLoginUID: w.Logins, MaxLoginUID: w.Logins + theatre.Logins - 1, RingBytes: w.RingBytes,
	}, connector.Options{})
	if err != nil {
		return err
	}
	defer reader.Close()
	out, err := openLines(w.Lines)
	if err != nil {
		return err
	}
	s, err := source.New(source.Options{
		Node: "n1", Reader: reader, Origin: reader.Origin, Journals: []string{w.Journal}, Outputs: []source.Output{out},
		Tracker: agent.Options{MinLoginUID: w.Logins, MaxLoginUID: w.Logins + theatre.Logins - 1},
	})
	if err != nil {
		return err
	}
	return s.Run(ctx)
}

// lines is an Output to a file that other agents wrote to before.
type lines struct {
	file   *os.File
	buffer []byte
}

func openLines(path string) (*lines, error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR|os.O_APPEND, 0o600)
	if err != nil {
		return nil, err
	}
	last := []byte{'\n'}
	if size, _ := file.Seek(0, io.SeekEnd); size > 0 {
		if _, err := file.ReadAt(last, size-1); err != nil {
			return nil, err
		}
	}
	if last[0] != '\n' { // the one before was killed as it wrote
		if _, err := file.WriteString("\n"); err != nil {
			return nil, err
		}
	}
	return &lines{file: file}, nil
}

func (l *lines) Write(events []*agent.Event, notices []*agent.Notice) error {
	l.buffer = l.buffer[:0]
	for _, e := range events {
		l.buffer = e.AppendLine(l.buffer)
	}
	for _, n := range notices {
		l.buffer = n.AppendLine(l.buffer)
	}
	_, err := l.file.Write(l.buffer)
	return err
}

func (l *lines) Close() error { return l.file.Close() }

// line is what the tests read of a line.
type line struct {
	Event, Notice, Origin string
	Process, Parent       struct {
		PID        int
		StartTicks uint64
		BootID     string
	}
	SessionID  uint32
	InnerPID   int
	Argv       []string
	ExitCode   int
	Signal     int
	CoreDumped bool
	CPU        int
	Sequence   uint64
	Again      bool
	Count      int64
	Session    *struct{ ExecID string }
}

func (l *line) fact() theatre.Fact {
	f := theatre.Fact{Task: theatre.Task{PID: l.Process.PID, Start: l.Process.StartTicks}, SessionID: l.SessionID}
	switch l.Event {
	case "fork":
		f.Kind, f.InnerPID = agent.KindFork, l.InnerPID
		f.Parent = theatre.Task{PID: l.Parent.PID, Start: l.Parent.StartTicks}
	case "exec":
		f.Kind = agent.KindExec
		if n := len(l.Argv); n > 0 {
			f.Nonce, _ = strconv.ParseUint(l.Argv[n-1], 10, 64)
		}
	case "exit":
		f.Kind, f.Status = agent.KindExit, l.ExitCode<<8|l.Signal
		if l.CoreDumped {
			f.Status |= 0x80
		}
	}
	return f
}

// story is what the lines of all agents say together.
type story struct {
	told                                  []theatre.Fact
	starts, torn, doubles, again, unknown int
	lost                                  int64
	forged                                int
	wrong                                 []string
}

// readStory reads the lines. An event that came again is one: it has the number that it had.
func readStory(t *testing.T, s *stand, path string, pinned bool) (st story) {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	type number struct {
		run, cpu int
		event    string
		sequence uint64
	}
	seen := map[number]theatre.Fact{}
	scan := bufio.NewScanner(file)
	scan.Buffer(nil, 1<<20)
	for scan.Scan() {
		var l line
		if len(scan.Bytes()) == 0 {
			continue
		}
		if err := json.Unmarshal(scan.Bytes(), &l); err != nil {
			st.torn++
			continue
		}
		switch agent.NoticeKind(l.Notice) {
		case agent.NoticeStart:
			st.starts++
		case agent.NoticeForged:
			st.forged++
		case agent.NoticeLost:
			if st.lost += max(l.Count, 0); l.Count < 0 {
				st.unknown++
			}
		}
		if l.Event == "" || l.Origin == "walk" {
			continue
		}
		n := number{cpu: l.CPU, event: l.Event, sequence: l.Sequence}
		if !pinned {
			n.run = st.starts
		}
		f := l.fact()
		if l.Again {
			st.again++
		}
		if before, ok := seen[n]; ok {
			if st.doubles++; before != f || !l.Again {
				st.wrong = append(st.wrong, fmt.Sprintf("%+v and %+v have the number %+v, again %v", before, f, n, l.Again))
			}
			continue
		}
		seen[n] = f
		st.told = append(st.told, f)
		if want, _ := s.execID(l.SessionID); l.Session == nil || l.Session.ExecID != want || l.Process.BootID != s.boot {
			st.wrong = append(st.wrong, scan.Text())
		}
	}
	if err := scan.Err(); err != nil {
		t.Fatal(err)
	}
	return st
}

func TestKilled(t *testing.T) {
	kills, sessions, rounds := 5, 10, 10
	if full {
		kills, sessions, rounds = 50, 40, 50
	}
	for _, c := range []struct {
		name   string
		pinned bool
		ring   int
	}{
		{"with pins: what is missing is told, nothing is invented", true, 0},
		{"with pins and a ring of 64 KiB: what is missing is told", true, 64 << 10},
		{"without pins: each start is told, nothing is invented", false, 0},
	} {
		t.Run(fmt.Sprintf("AGT-2 killed %d times under load, %s", kills, c.name), func(t *testing.T) {
			s := newStand(t, sessions*rounds*theatre.ProcessesPerRound*5/4+1000)
			w := watched{Journal: s.path, Lines: filepath.Join(t.TempDir(), "lines"), Logins: s.logins, RingBytes: c.ring}
			if c.pinned {
				w.PinDir = pinDir(t)
			}
			// The first is there before anything is.
			a := s.startAgent(t, w)
			awaitStarts(t, w.Lines, 1)
			plans := s.plans(sessions, rounds)
			played := make(chan error, 1)
			go func() {
				_, err := s.Play(plans, len(plans), s.cues(plans))
				played <- err
			}()
			before := 0
			for range kills {
				time.Sleep(time.Duration(rand.IntN(400)) * time.Millisecond) // at any moment, also as it starts
				a.kill(t)
				before = countStarts(w.Lines)
				a = s.startAgent(t, w)
			}
			if err := <-played; err != nil {
				t.Fatal(err)
			}
			awaitStarts(t, w.Lines, before+1)
			a.end(t)
			marked, _ := s.records(t)
			st := readStory(t, s, w.Lines, c.pinned)
			missing, invented := theatre.Compare(theatre.Facts(marked, all), st.told)
			t.Logf("%d facts, %d told, %d missing, %d told to be lost, %d starts, %d came again, %d twice, %d torn lines",
				len(marked), len(st.told), len(missing), st.lost, st.starts, st.again, st.doubles, st.torn)
			if len(invented) > 0 {
				t.Errorf("%d are told that are no facts; the first is %+v", len(invented), invented[0])
			}
			if len(st.wrong) > 0 {
				t.Errorf("%d lines are wrong; the first: %s", len(st.wrong), st.wrong[0])
			}
			if c.pinned && int64(len(missing)) > st.lost && st.unknown == 0 {
				t.Errorf("%d facts are missing, %d were told to be; the first is %+v", len(missing), st.lost, missing[0])
			}
			if st.forged > 0 {
				t.Errorf("%d marks are told as forged", st.forged)
			}
			if st.starts == 0 {
				t.Error("no agent says that it started")
			}
		})
	}
}

// pinDir mounts a BPF file system for the test and returns a directory in it.
func pinDir(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := unix.Mount("bpf", dir, "bpf", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, "mode=700"); err != nil {
		t.Skip("mount a BPF file system: ", err)
	}
	t.Cleanup(func() {
		if err := errors.Join(bpf.Remove(dir), unix.Unmount(dir, 0)); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// running is an agent in a process of its own.
type running struct {
	cmd    *exec.Cmd
	errors bytes.Buffer
}

func (s *stand) startAgent(t *testing.T, w watched) *running {
	t.Helper()
	text, err := json.Marshal(w)
	if err != nil {
		t.Fatal(err)
	}
	a := &running{cmd: exec.Command("/proc/self/exe")}
	a.cmd.Env = append(os.Environ(), agentVariable+"="+string(text), "GORACE=atexit_sleep_ms=0")
	a.cmd.Stderr = &a.errors
	if err := a.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if a.cmd.ProcessState == nil { // a test that failed
			_ = a.cmd.Process.Kill()
			_ = a.cmd.Wait()
		}
	})
	return a
}

// kill ends the agent as a crash does. It must not have ended before.
func (a *running) kill(t *testing.T) {
	t.Helper()
	_ = a.cmd.Process.Kill()
	if _ = a.cmd.Wait(); a.cmd.ProcessState.Sys().(syscall.WaitStatus).Signal() != unix.SIGKILL {
		t.Fatalf("the agent ended by itself: %v\n%s", a.cmd.ProcessState, &a.errors)
	}
}

// end ends the agent in order, once it was there.
func (a *running) end(t *testing.T) {
	t.Helper()
	if err := a.cmd.Process.Signal(unix.SIGTERM); err != nil {
		t.Error(err)
	}
	if err := a.cmd.Wait(); err != nil {
		t.Errorf("the agent: %v\n%s", err, &a.errors)
	}
}

// countStarts returns how many agents have said that they started.
func countStarts(path string) int {
	b, _ := os.ReadFile(path)
	return bytes.Count(b, []byte(`"notice":"start"`))
}

func awaitStarts(t *testing.T, path string, n int) {
	t.Helper()
	for timeout := time.Now().Add(time.Minute); countStarts(path) < n; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(timeout) {
			t.Fatal("the agent does not start within a minute")
		}
	}
}
