package pluginexec_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"

	"github.com/lanyard-dev/lanyard/pluginexec"
	"github.com/lanyard-dev/lanyard/redact"
)

func ExampleLookup() {
	_, err := pluginexec.Lookup("no-such-plugin")
	fmt.Println(err)
	fmt.Println(errors.Is(err, pluginexec.ErrNotFound))
	// Output:
	// command "no-such-plugin": no such executable
	// true
}

func ExampleRun() {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err := pluginexec.Run(ctx, pluginexec.Command{Path: "/usr/bin/plugin"})
	fmt.Println(err)
	// Output: "/usr/bin/plugin" stopped: context canceled
}

// A command that is printed shows which file runs, and how many arguments it has.
func ExampleCommand() {
	command := pluginexec.Command{Path: "/usr/bin/plugin", Args: redact.Texts("--password", "open-sesame")}
	fmt.Println(command.Path, command.Args)
	// Output: /usr/bin/plugin [[redacted] [redacted]]
}

// Standard error of a plugin may help whoever mends it, and may hold a password: it is shown where somebody asks for
// it.
func ExampleExitError() {
	var err error = &pluginexec.ExitError{Path: "/usr/bin/plugin", Code: 1, Stderr: redact.NewBytes([]byte("login failed for jane"))}
	log := slog.New(slog.NewTextHandler(os.Stdout, &slog.HandlerOptions{ReplaceAttr: withoutTime}))

	var exit *pluginexec.ExitError
	if errors.As(err, &exit) {
		log.Info("no credential", "err", err, "stderr", exit.Stderr)
		fmt.Printf("%s\n", exit.Stderr.Reveal())
	}
	// Output:
	// level=INFO msg="no credential" err="\"/usr/bin/plugin\" exited with code 1" stderr=[redacted]
	// login failed for jane
}

func withoutTime(_ []string, a slog.Attr) slog.Attr {
	if a.Key == slog.TimeKey {
		return slog.Attr{}
	}
	return a
}
