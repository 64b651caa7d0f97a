package reporter

import (
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/lanyard-dev/lanyard/criconformance/internal/message"
)

// Argument is the first argument of a program that runs as the reporter; "say" or "pause" follows it.
const Argument = "criconformance-reporter"

// Main runs the reporter if args, which begin with the program's name as os.Args does, ask for it: args[1] must be
// [Argument]. It returns whether it was asked, and the exit code: 0, or 1 after a line on stderr. A program that was
// asked must exit with the code and do nothing else.
func Main(args []string, stdout, stderr io.Writer) (code int, asked bool) {
	if len(args) < 2 || args[1] != Argument {
		return 0, false
	}
	if err := do(args[2:], stdout); err != nil {
		fmt.Fprintln(stderr, "reporter:", err)
		return 1, true
	}
	return 0, true
}

func do(args []string, stdout io.Writer) error {
	switch {
	case len(args) == 1 && args[0] == message.Say:
		return say(stdout)
	case len(args) == 1 && args[0] == message.Pause:
		ended := make(chan os.Signal, 1)
		signal.Notify(ended, syscall.SIGTERM, syscall.SIGINT)
		<-ended
		return nil
	}
	return fmt.Errorf("unknown command %q", args)
}

func say(stdout io.Writer) error {
	m, err := message.Self()
	if err != nil {
		return err
	}
	return message.Write(stdout, m)
}
