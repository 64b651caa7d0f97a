package top

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/lanyard-dev/lanyard/execaudit/agent/cmd/execaudit-agent/internal/board"
	"github.com/lanyard-dev/lanyard/execaudit/bridge"
	"github.com/lanyard-dev/lanyard/execaudit/bridge/sessions"
	"github.com/lanyard-dev/lanyard/execaudit/bridge/token"
)

// pseudo is a terminal: what is typed at its master reaches the slave, and the other way round.
type pseudo struct {
	master, slave *os.File
	mu            sync.Mutex
	shown         bytes.Buffer
}

func newPseudo(t *testing.T) *pseudo {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	n, err := unix.IoctlGetInt(int(master.Fd()), unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(int(master.Fd()), unix.TIOCSPTLCK, 0)
	}
	if err != nil {
		t.Fatal(err)
	}
	slave, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	p := &pseudo{master: master, slave: slave}
	var reader sync.WaitGroup
	reader.Go(func() {
		buffer := make([]byte, 4096)
		for {
			n, err := unix.Read(int(master.Fd()), buffer)
			if errors.Is(err, unix.EINTR) {
				continue
			}
			if err != nil || n == 0 {
				return // the slave is closed
			}
			p.mu.Lock()
			p.shown.Write(buffer[:n])
			p.mu.Unlock()
		}
	})
	t.Cleanup(func() {
		_ = slave.Close()
		reader.Wait()
		_ = master.Close()
	})
	return p
}

func (p *pseudo) resize(t *testing.T, width, height uint16) {
	t.Helper()
	if err := unix.IoctlSetWinsize(int(p.master.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Col: width, Row: height}); err != nil {
		t.Fatal(err)
	}
}

func (p *pseudo) text() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.shown.String()
}

// await waits until the terminal was told the text since the mark.
func (p *pseudo) await(t *testing.T, from int, text string) {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); !strings.Contains(p.text()[from:], text); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("the terminal was not told %q: %q", text, p.text()[from:])
		}
	}
}

func termios(t *testing.T, f *os.File) unix.Termios {
	t.Helper()
	got, err := unix.IoctlGetTermios(int(f.Fd()), unix.TCGETS)
	if err != nil {
		t.Fatal(err)
	}
	return *got
}

func TestWatch(t *testing.T) {
	p := newPseudo(t)
	p.resize(t, 100, 24)
	before := termios(t, p.slave)
	var mu sync.Mutex
	var fault error
	ask := func(context.Context) (board.Snapshot, error) {
		mu.Lock()
		defer mu.Unlock()
		return sample(), fault
	}
	start := func() (stop func(), ended chan error) {
		ctx, cancel := context.WithCancel(t.Context())
		ended = make(chan error, 1)
		w := &watcher{ask: ask, users: &users{}, interval: 20 * time.Millisecond, order: OrderNewest}
		go func() { ended <- w.watch(ctx, p.slave, p.slave) }()
		return cancel, ended
	}
	_, ended := start()
	p.await(t, 0, "sh -c 'sleep 5'")
	t.Run("AGT-6 what processes call themselves does not reach the terminal as it is", func(t *testing.T) {
		p.await(t, 0, `\x1b[2Jevil`)
		if strings.Contains(p.text(), "\x1b[2J") {
			t.Error("the terminal was told to clear itself")
		}
	})
	t.Run("AGT-6 it resizes", func(t *testing.T) {
		from := len(p.text())
		p.resize(t, 44, 10)
		if err := unix.Kill(os.Getpid(), syscall.SIGWINCH); err != nil {
			t.Fatal(err)
		}
		p.await(t, from, "! events were lost in the last 10m0s"+clear)
		p.await(t, from, "SESSION   POD               NEWEST COMMAND"+clear)
		p.resize(t, 100, 24)
	})
	t.Run("AGT-6 s sorts otherwise, and an agent that does not answer is told beside what was known", func(t *testing.T) {
		from := len(p.text())
		if _, err := p.master.WriteString("s"); err != nil {
			t.Fatal(err)
		}
		p.await(t, from, "sort by since")
		mu.Lock()
		fault = errors.New("the agent does not answer")
		mu.Unlock()
		p.await(t, from, "! the agent does not answer")
		from = len(p.text())
		p.await(t, from, "sh -c 'sleep 5'")
	})
	t.Run("AGT-6 q ends it, and the terminal is as it was", func(t *testing.T) {
		if _, err := p.master.WriteString("jkq"); err != nil {
			t.Fatal(err)
		}
		if err := <-ended; err != nil {
			t.Fatal(err)
		}
		if after := termios(t, p.slave); after != before {
			t.Errorf("termios %+v, want %+v", after, before)
		}
		p.await(t, 0, leave)
	})
	t.Run("AGT-6 a signal ends it, and the terminal is as it was", func(t *testing.T) {
		from := len(p.text())
		stop, ended := start()
		p.await(t, from, enter)
		stop()
		if err := <-ended; err != nil {
			t.Fatal(err)
		}
		if after := termios(t, p.slave); after != before {
			t.Errorf("termios %+v, want %+v", after, before)
		}
		p.await(t, from, leave)
	})
}

func TestUsers(t *testing.T) {
	name := filepath.Join(t.TempDir(), "sessions.jsonl")
	first, second, third := bridge.NewSessionID(), bridge.NewSessionID(), bridge.NewSessionID()
	line := func(id bridge.SessionID, user string) string {
		text, err := sessions.Encode(sessions.Record{
			Session: id, Time: noon, User: token.User{Name: user}, Source: sessions.SourceExec, Outcome: bridge.OutcomeMarked,
		})
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	write := func(to, text string) {
		f, err := os.OpenFile(to, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
		if err == nil {
			_, err = f.WriteString(text)
		}
		if err != nil {
			t.Fatal(err)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
	}
	write(name+".00000001", line(first, "alice"))
	write(name, "not a record\n"+line(second, "bob")[:20])
	u, err := openUsers([]string{name})
	if err != nil {
		t.Fatal(err)
	}
	t.Run("AGT-6 users come from session records, rotated ones too, and from lines that are whole", func(t *testing.T) {
		if u.names[first.String()] != "alice" || len(u.names) != 1 {
			t.Fatal(u.names)
		}
		write(name, line(second, "bob")[20:])
		if err := u.refresh(); err != nil || u.names[second.String()] != "bob" {
			t.Fatal(u.names, err)
		}
	})
	t.Run("AGT-6 a file that is rotated meanwhile is read on in the next one", func(t *testing.T) {
		if err := os.Rename(name, name+".00000002"); err != nil {
			t.Fatal(err)
		}
		if err := u.refresh(); err != nil {
			t.Fatal(err)
		}
		write(name, line(third, "carol"))
		if err := u.refresh(); err != nil || u.names[third.String()] != "carol" {
			t.Fatal(u.names, err)
		}
	})
	t.Run("AGT-6 two users of one session are told as that", func(t *testing.T) {
		write(name, line(third, "mallory"))
		if err := u.refresh(); err != nil || u.names[third.String()] != conflicting {
			t.Fatal(u.names, err)
		}
	})
	t.Run("AGT-6 a file that is not there is an error at the start", func(t *testing.T) {
		if _, err := openUsers([]string{name + "x"}); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%v", err)
		}
	})
}
