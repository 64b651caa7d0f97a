package shim

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"time"

	"golang.org/x/sys/unix"

	"github.com/lanyard-dev/lanyard/examples/runtime/monitor"
)

// reportFile is the descriptor on which the runtime waits to hear that the container runs, or why it does not.
const reportFile = 3

// Main runs the monitor of the container in the directory args[0] until the container has ended, and returns an exit
// code. With "--become COMMAND…" it becomes that command, see [become]. With "--pause" it is the init of a pod's PID
// namespace instead, and runs until it is killed.
func Main(args []string) int {
	if len(args) > 1 && args[0] == monitor.BecomeCommand[1] {
		fmt.Fprintln(os.Stderr, become(args[1:]))
		return 127
	}
	if len(args) != 1 {
		fmt.Fprintln(os.Stderr, "usage: lanyard-monitor FOLDER | --pause")
		return 2
	}
	if args[0] == "--pause" {
		return pause()
	}
	// It outlives terminals and service managers that only mean the runtime.
	// Taken and dropped, never ignored: a container's processes would inherit that, and a terminal's interrupt end nobody.
	signal.Notify(make(chan os.Signal, 1), unix.SIGHUP, unix.SIGINT, unix.SIGTERM, unix.SIGPIPE)
	if err := run(args[0]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

func run(dir string) error {
	alive, err := monitor.HoldAlive(dir)
	if err != nil {
		return err
	}
	defer alive.Close()
	report := os.NewFile(reportFile, "report")
	defer report.Close()
	unix.CloseOnExec(reportFile)

	phase, err := monitor.Read(dir)
	if err != nil {
		return err
	}
	if phase.Exited != nil {
		return fmt.Errorf("%s: given up before its monitor came", dir)
	}
	c, err := start(dir)
	if err != nil {
		// The file first: whoever reads the report may look for it at once.
		failed := monitor.Exited{Code: 128, At: time.Now(), StartError: err.Error()}
		err = errors.Join(monitor.WriteExited(dir, failed), json.NewEncoder(report).Encode(monitor.Reply{Error: err.Error()}))
		return err
	}
	// A runtime that died meanwhile does not hear it; the container runs all the same.
	_ = json.NewEncoder(report).Encode(monitor.Reply{Started: &c.started})
	report.Close()
	return c.waitEnd()
}
