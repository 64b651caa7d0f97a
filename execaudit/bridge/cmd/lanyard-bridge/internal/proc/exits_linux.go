package proc

import (
	"errors"
	"fmt"
	"sync"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Exit is the end of a process that was watched.
type Exit struct {
	PID        int
	StartTicks uint64
	// Seen is a time at which the process had ended and no other had its PID, since it was not reaped yet. It is zero
	// where it was reaped before we looked.
	Seen time.Time
	// Code is the exit code, 128 and the signal for a process that one ended; nil where the kernel does not tell it to
	// who is not the parent.
	Code *int
}

// Exits waits for processes that are nobody's children here, by pidfd.
//
// From Linux 6.15 the exit code is known (PIDFD_INFO_EXIT); before, it is where the process is still a zombie when it
// is looked at, and CAP_SYS_PTRACE lets us.
type Exits struct {
	fs     FS
	ptrace bool
	epoll  int
	wake   int // an eventfd
	ended  chan Exit
	stop   chan struct{}
	done   chan struct{}

	mu      sync.Mutex
	watched map[int32]Exit // by pidfd
}

// NewExits returns one that waits for nothing yet. Close frees it.
func NewExits(fs FS) (*Exits, error) {
	epoll, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("epoll: %w", err)
	}
	wake, err := unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK)
	if err == nil {
		err = unix.EpollCtl(epoll, unix.EPOLL_CTL_ADD, wake, &unix.EpollEvent{Events: unix.EPOLLIN, Fd: int32(wake)})
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("eventfd: %w", err), unix.Close(epoll))
	}
	e := &Exits{
		fs: fs, ptrace: mayPtrace(), epoll: epoll, wake: wake,
		ended: make(chan Exit), stop: make(chan struct{}), done: make(chan struct{}), watched: map[int32]Exit{},
	}
	go e.run()
	return e, nil
}

// Ended gives each watched process's end, once. It is never closed.
func (e *Exits) Ended() <-chan Exit { return e.ended }

// Watch begins to wait for the process that has this PID and start. Its error is [ErrNoProcess] when that has ended
// already, or the system's.
func (e *Exits) Watch(pid int, startTicks uint64) error {
	fd, err := unix.PidfdOpen(pid, 0)
	if errors.Is(err, unix.ESRCH) {
		return ErrNoProcess
	}
	if err != nil {
		return fmt.Errorf("pidfd of %d: %w", pid, err)
	}
	if e.fs.Identity(pid) != startTicks { // the pidfd may be of a later process of the same PID
		return errors.Join(ErrNoProcess, unix.Close(fd))
	}
	e.mu.Lock()
	e.watched[int32(fd)] = Exit{PID: pid, StartTicks: startTicks}
	e.mu.Unlock()
	err = unix.EpollCtl(e.epoll, unix.EPOLL_CTL_ADD, fd, &unix.EpollEvent{Events: unix.EPOLLIN | unix.EPOLLET, Fd: int32(fd)})
	if err != nil {
		e.forget(int32(fd))
		return fmt.Errorf("waiting for %d: %w", pid, err)
	}
	return nil
}

// Close ends the waiting. What was watched is not told any more.
func (e *Exits) Close() error {
	close(e.stop)
	_, err := unix.Write(e.wake, []byte{1, 0, 0, 0, 0, 0, 0, 0})
	<-e.done
	for fd := range e.watched {
		err = errors.Join(err, unix.Close(int(fd)))
	}
	return errors.Join(err, unix.Close(e.wake), unix.Close(e.epoll))
}

func (e *Exits) run() {
	defer close(e.done)
	var events [64]unix.EpollEvent
	for {
		n, err := unix.EpollWait(e.epoll, events[:], -1)
		if err != nil && !errors.Is(err, unix.EINTR) {
			return // the descriptor is ours, and open
		}
		for _, event := range events[:max(0, n)] {
			if event.Fd == int32(e.wake) {
				return
			}
			exit, done := e.exit(event.Fd, event.Events&unix.EPOLLHUP != 0)
			if !done {
				continue
			}
			e.forget(event.Fd)
			select {
			case e.ended <- exit:
			case <-e.stop:
				return
			}
		}
	}
}

// exit says how a process ended, or that the kernel will say it when its parent has taken notice.
func (e *Exits) exit(fd int32, reaped bool) (Exit, bool) {
	e.mu.Lock()
	exit := e.watched[fd]
	e.mu.Unlock()
	zombie, isZombie := e.Zombie(exit.PID, exit.StartTicks)
	if isZombie && exit.Seen.IsZero() {
		exit.Seen = zombie.Seen
		e.mu.Lock()
		e.watched[fd] = exit
		e.mu.Unlock()
	}
	if zombie.Code != nil {
		exit.Code = zombie.Code
		return exit, true
	}
	status, known, err := waitStatus(int(fd))
	if known {
		code := ExitCode(status)
		exit.Code = &code
	}
	return exit, known || err != nil || reaped
}

// Zombie returns how a process ended that was not reaped yet; false for any other. The code is nil without
// CAP_SYS_PTRACE.
func (e *Exits) Zombie(pid int, startTicks uint64) (Exit, bool) {
	exit := Exit{PID: pid, StartTicks: startTicks, Seen: time.Now()} // before the look: it is not reaped then
	stat, err := e.fs.read(pid, "stat")
	if err != nil {
		return Exit{}, false
	}
	t, err := parseStat(stat)
	if err != nil || !t.Zombie || t.StartTicks != startTicks {
		return Exit{}, false
	}
	exit.Code = e.Code(t)
	return exit, true
}

// Code returns the exit code of a zombie, nil where it cannot be known.
func (e *Exits) Code(t Task) *int {
	if !t.Zombie || !e.ptrace {
		return nil
	}
	code := ExitCode(t.WaitStatus)
	return &code
}

func (e *Exits) forget(fd int32) {
	e.mu.Lock()
	delete(e.watched, fd)
	e.mu.Unlock()
	_ = unix.Close(int(fd))
}

// pidfdInfo is the kernel's struct pidfd_info, as of Linux 6.15.
type pidfdInfo struct {
	mask, cgroup uint64
	_            [11]uint32 // PID, parent and credentials
	exitStatus   int32
	_, _         uint32
}

const (
	pidfdInfoExit = 1 << 3
	pidfdGetInfo  = 3<<30 | unsafe.Sizeof(pidfdInfo{})<<16 | 0xff<<8 | 11 // _IOWR(0xff, 11, struct pidfd_info)
)

// waitStatus returns the wait status of a process that was reaped. An error says that the kernel never will.
func waitStatus(pidfd int) (status int, known bool, err error) {
	info := pidfdInfo{mask: pidfdInfoExit}
	if _, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(pidfd), pidfdGetInfo, uintptr(unsafe.Pointer(&info))); errno != 0 {
		return 0, false, errno
	}
	return int(info.exitStatus), info.mask&pidfdInfoExit != 0, nil
}

// mayPtrace reports whether this process has CAP_SYS_PTRACE, without which /proc shows others' exit codes as 0.
func mayPtrace() bool {
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var data [2]unix.CapUserData
	return unix.Capget(&header, &data[0]) == nil && data[0].Effective&(1<<unix.CAP_SYS_PTRACE) != 0
}
