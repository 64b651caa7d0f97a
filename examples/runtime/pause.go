package runtime

import (
	"os/exec"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/lanyard-dev/lanyard/examples/runtime/monitor"
)

// startPause starts the init of a PID namespace that the containers of a pod share.
func startPause(program string) (*monitor.Started, error) {
	cmd := exec.Command(program, "--pause")
	cmd.Dir, cmd.Env = "/", []string{}
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWPID, Setsid: true}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	// It is a child as long as this runtime lives; somebody has to take its exit.
	go func() { _ = cmd.Wait() }()
	start, err := monitor.StartTime(cmd.Process.Pid)
	if err != nil {
		return nil, err
	}
	return &monitor.Started{Pid: cmd.Process.Pid, StartTime: start, At: time.Now()}, nil
}

// killExactly kills the process that p names and not a later one with the same number.
func killExactly(p monitor.Started) {
	fd, err := unix.PidfdOpen(p.Pid, 0)
	if err != nil {
		return
	}
	defer unix.Close(fd)
	// The descriptor holds one process, so what is read now is about the one that is killed.
	if start, err := monitor.StartTime(p.Pid); err != nil || start != p.StartTime {
		return
	}
	_ = unix.PidfdSendSignal(fd, unix.SIGKILL, nil, 0)
}

func pidNamespace(pid int) string { return "/proc/" + strconv.Itoa(pid) + "/ns/pid" }
