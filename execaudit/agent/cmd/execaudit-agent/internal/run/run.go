//go:build linux

package run

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/lanyard-dev/lanyard/execaudit/agent"
	"github.com/lanyard-dev/lanyard/execaudit/agent/bpf"
	"github.com/lanyard-dev/lanyard/execaudit/agent/cmd/execaudit-agent/internal/board"
	"github.com/lanyard-dev/lanyard/execaudit/agent/cmd/execaudit-agent/internal/control"
	"github.com/lanyard-dev/lanyard/execaudit/agent/cmd/execaudit-agent/internal/lines"
	"github.com/lanyard-dev/lanyard/execaudit/agent/cmd/execaudit-agent/internal/privilege"
	"github.com/lanyard-dev/lanyard/execaudit/agent/connector"
	"github.com/lanyard-dev/lanyard/execaudit/agent/source"
	"github.com/lanyard-dev/lanyard/execaudit/journal"
)

// Version returns the program's version, from the module's.
func Version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" {
		return "unknown"
	}
	return info.Main.Version
}

// run is the agent, until the context ends.
func run(ctx context.Context, o Options, log *slog.Logger) (err error) {
	args, err := o.args()
	if err != nil {
		return fmt.Errorf("the key of hashes: %w", err)
	}
	// The servers first: a second agent ends here, before it touches what is the first one's.
	sockets, err := o.listen()
	if err != nil {
		return err
	}
	defer sockets.close()
	output, err := lines.Open(o.Output, lines.Rotation{Bytes: int64(o.OutputMiB) << 20, Keep: o.OutputKeep})
	if err != nil {
		return fmt.Errorf("output: %w", err)
	}
	opened, pinned, err := o.open(log)
	if err != nil {
		return errors.Join(err, output.Close())
	}
	defer func() { err = errors.Join(err, opened.Close()) }()
	b := board.New(output, board.Options{Status: board.Status{
		Node: o.Node, Version: Version(), Started: time.Now().UTC(), Journal: strings.Join(o.Journals, " "), Output: o.Output, Pinned: pinned,
	}})
	s, err := source.New(o.source(opened, b, args))
	if err != nil {
		return errors.Join(err, output.Close())
	}
	if err := privilege.Drop(privilege.Afterwards(opened.Origin)); errors.Is(err, syscall.ENOTSUP) {
		log.Warn("capabilities stay, as this program is linked with C: build it with CGO_ENABLED=0")
	} else if err != nil {
		return errors.Join(fmt.Errorf("dropping capabilities: %w", err), output.Close())
	}
	b.Live(o.live(s), s.Sessions)
	ctx, stop := context.WithCancelCause(ctx)
	served, end := context.WithCancel(context.WithoutCancel(ctx))
	var servers sync.WaitGroup
	for _, serving := range sockets {
		servers.Go(func() {
			if err := control.Serve(served, serving.listener, serving.handler(b)); err != nil {
				stop(fmt.Errorf("serving %s: %w", serving.what, err))
			}
		})
	}
	status := b.Status()
	log.Info("watching", "node", o.Node, "by", status.Mode, "pinned", pinned, "capabilities", strings.Join(status.Capabilities, " "))
	err = s.Run(ctx)
	stop(nil)
	end()
	servers.Wait()
	if cause := context.Cause(ctx); !errors.Is(cause, context.Canceled) {
		err = errors.Join(cause, err)
	}
	return err
}

// socket is one that is served.
type socket struct {
	what     string
	listener net.Listener
	handler  func(*board.Board) http.Handler
}

type sockets []socket

func (all sockets) close() {
	for _, s := range all {
		_ = s.listener.Close() // it is, once it was served
	}
}

func (o *Options) listen() (all sockets, err error) {
	if o.Socket != "" {
		l, err := control.Listen(o.Socket)
		if err != nil {
			return nil, fmt.Errorf("socket: %w", err)
		}
		all = append(all, socket{"the socket", l, control.Handler})
	}
	if o.MetricsListen != "" {
		l, err := net.Listen("tcp", o.MetricsListen)
		if err != nil {
			all.close()
			return nil, fmt.Errorf("metrics: %w", err)
		}
		all = append(all, socket{"metrics", l, metrics})
	}
	return all, nil
}

// open opens the way of seeing that the options ask for, and says whether it is pinned.
func (o *Options) open(log *slog.Logger) (*source.Opened, bool, error) {
	b := bpf.Options{RingBytes: o.RingBytes, MinLoginUID: o.MinLoginUID, MaxLoginUID: o.MaxLoginUID}
	switch {
	case o.Mode == board.ModeConnector:
	case !o.Pin:
		if err := unpin(o.PinDir); err != nil {
			log.Error("what was pinned stays", "directory", o.PinDir, "error", err)
		}
	case !isBPFFS(o.PinDir):
		log.Warn("no BPF file system: a restart will leave a gap", "directory", o.PinDir)
	default:
		if err := os.MkdirAll(o.PinDir, 0o700); err != nil {
			return nil, false, err
		}
		b.PinDir = o.PinDir
	}
	c := connector.Options{Proc: o.Proc, MinLoginUID: o.MinLoginUID, MaxLoginUID: o.MaxLoginUID, MaxProcesses: o.MaxProcesses}
	opened, err := source.Open(modes[o.Mode], b, c)
	if err != nil {
		return nil, false, err
	}
	for _, what := range opened.Blind {
		log.Warn("not everything can be seen", "what", what)
	}
	return opened, b.PinDir != "" && opened.Programs != nil, nil
}

// unpin takes programs and buffer away that an agent left.
func unpin(dir string) error {
	if dir == "" || !isBPFFS(dir) {
		return nil
	}
	err := bpf.Remove(dir)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	return err
}

// isBPFFS reports whether the directory, or what is above it that is there, is in a BPF file system.
func isBPFFS(dir string) bool {
	for {
		var s unix.Statfs_t
		err := unix.Statfs(dir, &s)
		if err == nil {
			return s.Type == unix.BPF_FS_MAGIC
		}
		above := filepath.Dir(dir)
		if !errors.Is(err, unix.ENOENT) || above == dir {
			return false
		}
		dir = above
	}
}

// source are the options of the source.
func (o *Options) source(opened *source.Opened, out source.Output, args agent.ArgsPolicy) source.Options {
	so := source.Options{
		Node: o.Node, Reader: opened.Reader, Origin: opened.Origin, Blind: opened.Blind, Outputs: []source.Output{out}, Tracker: o.tracker(args),
		Proc: o.Proc, CgroupRoot: o.host(source.DefaultCgroupRoot), Logs: o.host(o.Logs),
	}
	for _, path := range o.Journals {
		so.Journals = append(so.Journals, o.host(path))
	}
	if o.Spool != "" {
		dir := o.host(o.Spool)
		so.Waiting = func() ([]journal.Record, error) { return waiting(dir) }
	}
	return so
}

// live has the status say what the source knows.
func (o *Options) live(s *source.Source) func(*board.Status) {
	return func(to *board.Status) {
		now := s.Status()
		to.BootID, to.Blind = now.BootID, now.Blind
		to.Mode = board.ModeEBPF
		if now.Origin == agent.OriginConnector {
			to.Mode = board.ModeConnector
		} else {
			to.RingBytes = o.RingBytes
		}
		// Those without a process that is alive are kept for a while, too.
		to.Sessions, to.Processes, to.Held = len(s.Sessions()), now.Tracker.Processes, now.Tracker.Held
		to.Evicted = now.Tracker.EvictedSessions + now.Tracker.EvictedProcesses
		for _, out := range now.Outputs {
			to.Waiting += out.Waiting
		}
		for _, j := range now.Journals {
			if j.Error != "" {
				to.JournalError = j.Path + ": " + j.Error
			}
		}
		to.Trouble = now.Trouble
		if has, err := privilege.Permitted(); err == nil {
			to.Capabilities = has.Names()
		}
	}
}
