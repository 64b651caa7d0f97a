//go:build linux

package theatre

import (
	"bufio"
	_ "embed"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/lanyard-dev/lanyard/execaudit/agent"
)

//go:embed player/player.c
var source []byte

// ProcessesPerRound is how many processes one round of a plan makes.
const ProcessesPerRound = 48

// Unmarked is what the kernel has for a process without a session.
const Unmarked = 1<<32 - 1

// Sizes of what lies in the truth file, as player.c has them.
const (
	headerBytes = 32
	recordBytes = 64
)

// Kinds of records, as player.c has them.
const (
	kindBorn = iota + 1
	kindExec
	kindExit
	kindFault
)

// Stage is where sessions play.
type Stage struct {
	program string
	file    *os.File
	data    []byte
	playing map[*Session]bool
	mu      sync.Mutex
}

// Open builds the player and makes the file of the truth, with room for that many processes. It skips the test where
// that cannot be.
func Open(t testing.TB, processes int) *Stage {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("needs root: it takes marks and makes cgroups")
	}
	s := &Stage{program: build(t), playing: map[*Session]bool{}}
	size := headerBytes + 8*processes*recordBytes
	file, err := os.Create(filepath.Join(t.TempDir(), "truth"))
	if err != nil {
		t.Fatal(err)
	}
	if err := file.Truncate(int64(size)); err != nil {
		t.Fatal(err)
	}
	s.file = file
	if s.data, err = unix.Mmap(int(file.Fd()), 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED); err != nil {
		t.Fatal(err)
	}
	binary.NativeEndian.PutUint64(s.data[16:], uint64(8*processes))
	t.Cleanup(func() {
		for session := range s.playing { // a test that failed
			_ = session.Stop()
		}
		if err := errors.Join(unix.Munmap(s.data), file.Close()); err != nil {
			t.Error(err)
		}
	})
	return s
}

// build compiles the player and puts a script of it beside it.
func build(t testing.TB) string {
	t.Helper()
	compiler, err := exec.LookPath("cc")
	if err != nil {
		t.Skip("needs a C compiler: ", err)
	}
	dir := t.TempDir()
	program := filepath.Join(dir, "player")
	cmd := exec.Command(compiler, "-O2", "-static", "-x", "c", "-o", program, "-")
	cmd.Stdin = strings.NewReader(string(source))
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("cc: %v\n%s", err, out)
	}
	if err := os.WriteFile(program+".script", []byte("#!"+program+" script\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	return program
}

// Program is the player's path. Every told exec of a session has it as its first argument.
func (s *Stage) Program() string { return s.program }

// Logins is how many login UIDs FreeLogins gives.
const Logins = 512

var given atomic.Uint32

// FreeLogins returns the first of Logins login UIDs in the agent's range that no other test has, so that tests that run
// side by side do not see each other's sessions.
func FreeLogins() uint32 {
	const ranges = (agent.MaxLoginUID - agent.MinLoginUID) / Logins
	return agent.MinLoginUID + (uint32(os.Getpid())*16+given.Add(1)%16)%ranges*Logins
}

// Plan says what a session does.
type Plan struct {
	// LoginUID is the mark that its starter takes; 0 takes none.
	LoginUID uint32
	// Rounds is how often it does all that it can, ProcessesPerRound each time.
	Rounds int
	// Early has the runtime's own process join the container before it runs its program, as with CLONE_INTO_CGROUP.
	Early bool
	// Leave, other than 0, has two processes of the session take another mark at its end.
	Leave uint32
	// Container is where it plays; nil is the host.
	Container *Container
	// Env is added to its environment.
	Env []string
}

// Session is a session of the stage.
type Session struct {
	// Starter is the process that took the mark, First the session's first, which is known once it was told to go on.
	Starter, First Task
	// SessionID is the kernel's, Unmarked without a mark.
	SessionID uint32
	LoginUID  uint32
	Container *Container
	stage     *Stage
	cmd       *exec.Cmd
	in        io.WriteCloser
	out       *bufio.Reader
}

// Task is a process as /proc shows it.
type Task struct {
	PID int
	// Start is field 22 of /proc/PID/stat, in ticks of 10 ms.
	Start uint64
}

// Start has a starter take its mark. It does nothing more until Go.
func (s *Stage) Start(p Plan) (*Session, error) {
	session := &Session{LoginUID: p.LoginUID, Container: p.Container, stage: s}
	login := strconv.FormatUint(uint64(p.LoginUID), 10)
	session.cmd = exec.Command(s.program, "m", strconv.Itoa(p.Rounds), login)
	session.cmd.ExtraFiles = []*os.File{s.file}
	session.cmd.Stderr = os.Stderr
	session.cmd.Env = append(os.Environ(), p.Env...)
	if p.Container != nil {
		session.cmd.Env = append(session.cmd.Env,
			"THEATRE_CGROUPS="+strings.Join(p.Container.Directories, ":"), "THEATRE_UNIFIED="+p.Container.unified)
	}
	if p.Leave != 0 {
		session.cmd.Env = append(session.cmd.Env, "THEATRE_LEAVE="+strconv.FormatUint(uint64(p.Leave), 10))
	}
	if p.Early {
		session.cmd.Env = append(session.cmd.Env, "THEATRE_EARLY=1")
	}
	var err error
	if session.in, err = session.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := session.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	session.out = bufio.NewReader(out)
	if err := session.cmd.Start(); err != nil {
		return nil, err
	}
	s.note(session, true)
	if session.Starter, session.SessionID, err = session.hear(); err != nil {
		return nil, errors.Join(err, session.Stop())
	}
	return session, nil
}

func (s *Session) hear() (t Task, session uint32, err error) {
	line, err := s.out.ReadString('\n')
	if err != nil {
		return t, 0, fmt.Errorf("the starter said nothing: %w", err)
	}
	_, err = fmt.Sscan(line, &t.PID, &t.Start, &session)
	return t, session, err
}

// Go lets the session play, and returns once its first process is known.
func (s *Session) Go() error {
	if _, err := s.in.Write([]byte{1}); err != nil {
		return err
	}
	first, session, err := s.hear()
	if err == nil && session != s.SessionID {
		err = fmt.Errorf("session %d has a process of session %d", s.SessionID, session)
	}
	s.First = first
	return err
}

// Wait returns when all processes of the session are gone and written down.
func (s *Session) Wait() error {
	err := s.cmd.Wait()
	s.stage.note(s, false)
	s.stage.exited(s.Starter, s.SessionID, s.cmd.ProcessState.Sys().(syscall.WaitStatus))
	return err
}

// Stop ends a session that was not told to go on.
func (s *Session) Stop() error { return errors.Join(s.in.Close(), s.Wait()) }

func (s *Stage) note(session *Session, playing bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if delete(s.playing, session); playing {
		s.playing[session] = true
	}
}

// exited writes down a starter's end.
func (s *Stage) exited(t Task, session uint32, status syscall.WaitStatus) {
	var r [recordBytes]byte
	put := binary.NativeEndian
	put.PutUint64(r[0:], t.Start)
	put.PutUint32(r[8:], uint32(t.PID))
	put.PutUint32(r[12:], session)
	put.PutUint32(r[40:], kindExit)
	put.PutUint32(r[48:], uint32(status))
	put.PutUint32(r[56:], 1)
	copy(s.data[headerBytes+int(s.claim())*recordBytes:], r[:])
}
