package shim

import (
	"fmt"
	"os"
	"os/signal"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/lanyard-dev/lanyard/examples/runtime/monitor"
)

// exit is how one process ended.
type exit struct {
	code int // 128+n for signal n
	identity
}

// identity is what the kernel says of a process as long as it was not reaped. Zero where it does not say.
type identity struct {
	seen      time.Time // when this was read: the number was the process's then, and nobody else's
	startTime uint64
	sessionID uint32 // set for this process; 0 for that of this monitor, which all that it starts would have
}

func (r *reaper) identityOf(pid int) (i identity) {
	i.seen = time.Now()
	i.startTime, _ = monitor.StartTime(pid)
	if id, _ := monitor.SessionID(pid); id != r.sessionID {
		i.sessionID = id
	}
	return i
}

// reaper waits for every child of this process, its own and those it inherits. Nothing else here may wait for a child:
// two waiters would steal each other's exit codes.
type reaper struct {
	sessionID uint32 // of this process: it has one if its runtime was started in a login session

	mu      sync.Mutex
	exited  map[int]exit      // ended before anybody asked
	waiting map[int]chan exit // asked before they ended
	spawns  int               // low-level runtimes that run: their detached children are not known yet
}

func newReaper() (*reaper, error) {
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return nil, fmt.Errorf("become child subreaper: %w", err)
	}
	own, err := monitor.SessionID(os.Getpid())
	if err != nil {
		return nil, err
	}
	r := &reaper{sessionID: own, exited: map[int]exit{}, waiting: map[int]chan exit{}}
	sigchld := make(chan os.Signal, 1)
	signal.Notify(sigchld, unix.SIGCHLD)
	go func() {
		for range sigchld {
			r.reap()
		}
	}()
	return r, nil
}

// reap collects all children that ended. SIGCHLD coalesces, so one signal may stand for many.
func (r *reaper) reap() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for {
		var info unix.Siginfo
		// WNOWAIT leaves the zombie in place, so that its identity can still be read, and its number is no other's.
		err := unix.Waitid(unix.P_ALL, 0, &info, unix.WEXITED|unix.WNOHANG|unix.WNOWAIT, nil)
		if err == unix.EINTR {
			continue
		}
		pid := siginfoPid(&info)
		if err != nil || pid == 0 {
			return
		}
		who := r.identityOf(pid)
		var ws unix.WaitStatus
		if _, err := unix.Wait4(pid, &ws, 0, nil); err != nil {
			return
		}
		r.deliver(pid, exit{code: exitCode(ws), identity: who})
	}
}

func (r *reaper) deliver(pid int, e exit) {
	if ch, ok := r.waiting[pid]; ok {
		delete(r.waiting, pid)
		ch <- e
		return
	}
	// Nobody can ask for it later unless a spawn is under way: what else ends here is somebody's orphan.
	if r.spawns > 0 {
		r.exited[pid] = e
	}
}

// spawning says that a process will be asked for whose pid is not known yet. The returned function ends that.
func (r *reaper) spawning() (done func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.spawns++
	return func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		if r.spawns--; r.spawns == 0 {
			clear(r.exited)
		}
	}
}

// await returns a channel that gets the exit of pid, once. It must be called within spawning.
func (r *reaper) await(pid int) (<-chan exit, identity) {
	r.mu.Lock()
	defer r.mu.Unlock()
	ch := make(chan exit, 1)
	if e, ok := r.exited[pid]; ok {
		delete(r.exited, pid)
		ch <- e
		return ch, e.identity
	}
	r.waiting[pid] = ch
	return ch, r.identityOf(pid)
}

// kill ends the process group that pid leads, if pid was not reaped yet; the lock keeps its number from being reused.
func (r *reaper) kill(pid int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, ok := r.waiting[pid]; !ok {
		return
	}
	_ = unix.Kill(-pid, unix.SIGKILL)
	_ = unix.Kill(pid, unix.SIGKILL)
}

func exitCode(ws unix.WaitStatus) int {
	if ws.Signaled() {
		return 128 + int(ws.Signal())
	}
	return ws.ExitStatus()
}
