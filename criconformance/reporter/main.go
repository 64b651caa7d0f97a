package reporter

import (
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
)

// Argument is the first argument by which a program knows that it is to be the reporter.
const Argument = "criconformance-reporter"

// What the reporter does, as its second argument says.
const (
	Say   = "say"   // print a [Message] as one line of JSON, with the values in it
	Pause = "pause" // do nothing until SIGTERM
)

// Main does what args ask of the reporter, if they ask anything of it: args[1] must be [Argument]. It returns the exit
// code and whether it was asked; a program that was asked does nothing else and exits with the code, which is 0, or 1
// after a line on stderr.
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
	case len(args) == 1 && args[0] == Say:
		return say(stdout)
	case len(args) == 1 && args[0] == Pause:
		ended := make(chan os.Signal, 1)
		signal.Notify(ended, syscall.SIGTERM, syscall.SIGINT)
		<-ended
		return nil
	}
	return fmt.Errorf("unknown command %q", args)
}

func say(stdout io.Writer) error {
	m, err := Self()
	if err != nil {
		return err
	}
	return write(stdout, m)
}
