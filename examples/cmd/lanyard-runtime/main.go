// Command lanyard-runtime is the reference CRI runtime; see package runtime.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"

	"github.com/lanyard-dev/lanyard/examples/parts"
	"github.com/lanyard-dev/lanyard/examples/runtime"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "lanyard-runtime:", err)
		os.Exit(1)
	}
}

// gcPercent is how far the heap grows before it is collected, unless GOGC says otherwise. A session allocates about 1
// MB, most of it SPDY's compressors, on a heap of a few: the default collects in the middle of every few sessions.
const gcPercent = 400

func run(args []string) error {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
	}
	var c runtime.Config
	flags := flag.NewFlagSet("lanyard-runtime", flag.ContinueOnError)
	flags.StringVar(&c.Root, "root", "/var/lib/lanyard-runtime", "state `directory`")
	flags.StringVar(&c.Socket, "socket", "/run/lanyard-runtime.sock", "`path` of the CRI socket")
	flags.StringVar(&c.Runc, "runc", "", "`path` of the low-level runtime (default: as built by make parts)")
	flags.StringVar(&c.Monitor, "monitor", "", "`path` of lanyard-monitor (default: as built by make parts)")
	flags.StringVar(&c.Node, "node", "", "`name` of this machine in the exec journal (default: the host name)")
	flags.StringVar(&c.OldHandler, "old-handler", "", "`name` of a second runtime handler, which behaves like one without ExecRequest.envs")
	flags.StringVar(&c.JournalKeys, "journal-keys", "", "seal the exec journal, and at the first start add the verification key to the `file`: take it off the host")
	flags.Int64Var(&c.JournalMaxBytes, "journal-max-bytes", 0, "rotate the exec journal at this `size` (default: 64 MiB)")
	flags.BoolVar(&c.PlayOld, "play-old", false, "behave like a runtime without ExecRequest.envs")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() > 0 {
		return fmt.Errorf("argument %q: there are flags only", flags.Arg(0))
	}
	c.Logger = slog.New(slog.NewTextHandler(os.Stderr, nil))
	if err := findParts(&c); err != nil {
		return err
	}
	s, err := runtime.New(c)
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	return errors.Join(s.Serve(ctx), s.Close())
}

func findParts(c *runtime.Config) (err error) {
	for name, path := range map[string]*string{"runc": &c.Runc, "lanyard-monitor": &c.Monitor} {
		if *path == "" {
			if *path, err = parts.Find(name); err != nil {
				return err
			}
		}
	}
	return nil
}
