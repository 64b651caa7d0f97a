package monitor

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"

	"github.com/lanyard-dev/lanyard/examples/runtime/disk"
)

// The files of one container's monitor, all in the container's own directory.
const (
	specFile    = "monitor.json"
	startedFile = "started.json"
	exitedFile  = "exited.json"
	aliveFile   = "alive.lock"
	socketFile  = "m.sock"
)

// BecomeCommand precedes the command of a process whose environment is raw.
var BecomeCommand = [...]string{"/proc/self/fd/3", "--become"}

// Spec is what a monitor is told: the container to start and where its streams go.
type Spec struct {
	ID        string `json:"id"`
	Runc      string `json:"runc"`     // path of the low-level runtime
	RuncRoot  string `json:"runcRoot"` // its state directory
	Bundle    string `json:"bundle"`   // OCI bundle; its config.json is complete
	LogPath   string `json:"logPath"`  // CRI log; empty writes none
	Terminal  bool   `json:"terminal"`
	Stdin     bool   `json:"stdin"`     // keep a standard input for attach; otherwise /dev/null
	StdinOnce bool   `json:"stdinOnce"` // close it when the first attach ends

	// RawEnv is a file with an environment that JSON cannot carry, each entry closed by a NUL byte; empty when the OCI
	// process has it. The process's command is then preceded by [BecomeCommand].
	RawEnv string `json:"rawEnv,omitempty"`
}

// Started is written once the container's first process runs.
type Started struct {
	Pid       int       `json:"pid"`
	StartTime uint64    `json:"startTime"`           // clock ticks since boot, field 22 of /proc/PID/stat
	SessionID uint32    `json:"sessionID,omitempty"` // the kernel's audit session, where it is not the monitor's own
	At        time.Time `json:"at"`                  // it had its PID then
}

// Exited is written when the container ended, or could not start.
type Exited struct {
	Code       int       `json:"code"`                 // 128+n for signal n
	At         time.Time `json:"at"`                   // seen to have ended, and no other process has its PID yet
	Lost       bool      `json:"lost,omitempty"`       // its monitor died before it; the code means nothing
	StartError string    `json:"startError,omitempty"` // why it never ran; empty when it did
}

// Phase says how far a container's monitor has come, read from its directory.
type Phase struct {
	Launched bool     // a monitor was told to start it
	Alive    bool     // that monitor still runs
	Started  *Started // nil until the first process runs
	Exited   *Exited  // nil until it ended
}

// Read returns the phase of the container in dir. A missing file is a phase, a broken one is an error.
func Read(dir string) (Phase, error) {
	// The lock is asked first: a monitor that ends between two looks has then already written its last file.
	p := Phase{Alive: alive(dir)}
	spec, err := disk.ReadJSON[Spec](filepath.Join(dir, specFile))
	if err != nil {
		return p, err
	}
	p.Launched = spec != nil
	if p.Started, err = disk.ReadJSON[Started](filepath.Join(dir, startedFile)); err != nil {
		return p, err
	}
	p.Exited, err = disk.ReadJSON[Exited](filepath.Join(dir, exitedFile))
	return p, err
}

// ReadSpec returns what the monitor of the container in dir was told.
func ReadSpec(dir string) (Spec, error) {
	s, err := disk.ReadJSON[Spec](filepath.Join(dir, specFile))
	if err != nil {
		return Spec{}, err
	}
	if s == nil {
		return Spec{}, fmt.Errorf("%s: %w", filepath.Join(dir, specFile), fs.ErrNotExist)
	}
	return *s, nil
}

// WriteSpec writes what the monitor of the container in dir is to be told.
func WriteSpec(dir string, s Spec) error { return disk.WriteJSON(filepath.Join(dir, specFile), s) }

// WriteStarted records that the container in dir runs.
func WriteStarted(dir string, s Started) error {
	return disk.WriteJSON(filepath.Join(dir, startedFile), s)
}

// WriteExited records how the container in dir ended.
func WriteExited(dir string, e Exited) error {
	return disk.WriteJSON(filepath.Join(dir, exitedFile), e)
}

// ErrAlive says that a monitor still runs.
var ErrAlive = errors.New("container monitor runs")

// HoldAlive takes the lock that says this monitor runs; the kernel gives it back however the process ends. The file
// must be kept open. It waits for those who look.
func HoldAlive(dir string) (*os.File, error) { return lock(dir, unix.LOCK_EX) }

// Abandon writes down how the container in dir ended in the place of a monitor that is gone, and returns what is
// written: the monitor's own word if it left one. A monitor that comes up later finds it and starts nothing. [ErrAlive]
// if there is one after all.
func Abandon(dir string, e Exited) (Exited, error) {
	f, err := lock(dir, unix.LOCK_EX|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		return Exited{}, fmt.Errorf("%s: %w", dir, ErrAlive)
	}
	if err != nil {
		return Exited{}, err
	}
	defer f.Close()
	written, err := disk.ReadJSON[Exited](filepath.Join(dir, exitedFile))
	if err != nil {
		return Exited{}, err
	}
	if written != nil {
		return *written, nil
	}
	return e, WriteExited(dir, e)
}

func lock(dir string, how int) (*os.File, error) {
	f, err := os.OpenFile(filepath.Join(dir, aliveFile), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	for {
		err := unix.Flock(int(f.Fd()), how)
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			f.Close()
			return nil, &os.PathError{Op: "flock", Path: f.Name(), Err: err}
		}
		return f, nil
	}
}

func alive(dir string) bool {
	// A shared lock, so that two readers never take each other for a monitor.
	f, err := lock(dir, unix.LOCK_SH|unix.LOCK_NB)
	if err != nil {
		return errors.Is(err, unix.EWOULDBLOCK)
	}
	f.Close()
	return false
}
