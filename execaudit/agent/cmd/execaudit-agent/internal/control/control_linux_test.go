package control_test

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"reflect"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/lanyard-dev/lanyard/execaudit/agent"
	"github.com/lanyard-dev/lanyard/execaudit/agent/cmd/execaudit-agent/internal/board"
	"github.com/lanyard-dev/lanyard/execaudit/agent/cmd/execaudit-agent/internal/control"
)

func TestSocket(t *testing.T) {
	now := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	b := board.New(nil, board.Options{Status: board.Status{Node: "n1", Mode: board.ModeEBPF}, Now: func() time.Time { return now }})
	b.Live(nil, func() []agent.SessionState {
		return []agent.SessionState{{SessionID: 7, Began: now, Last: now, Processes: 1, Command: "sh -c \x1b[31m"}}
	})
	path := filepath.Join(t.TempDir(), "made", "agent.sock")
	listener, err := control.Listen(path)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	served := make(chan error)
	go func() { served <- control.Serve(ctx, listener, control.Handler(b)) }()
	client := control.NewClient(path)
	t.Cleanup(func() {
		client.Close()
		stop()
		if err := <-served; err != nil {
			t.Error(err)
		}
		if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("the socket is left: %v", err)
		}
	})
	t.Run("AGT-7 nobody but its owner may connect", func(t *testing.T) {
		for name, want := range map[string]os.FileMode{path: 0o600, filepath.Dir(path): 0o700} {
			if info, err := os.Stat(name); err != nil || info.Mode().Perm() != want {
				t.Errorf("%s: %v, %v; want mode %v", name, info.Mode(), err, want)
			}
		}
		if got := unix.Umask(0o022); got != 0o022 {
			t.Errorf("the umask is %#o", got)
		}
	})
	t.Run("AGT-6 what is asked for is what the board has", func(t *testing.T) {
		status, err := client.Status(t.Context())
		if want := b.Status(); err != nil || !reflect.DeepEqual(status, want) {
			t.Errorf("Status(…) = %+v, %v, want %+v", status, err, want)
		}
		snapshot, err := client.Snapshot(t.Context())
		if want := b.Snapshot(); err != nil || !reflect.DeepEqual(snapshot, want) {
			t.Errorf("Snapshot(…) = %+v, %v, want %+v", snapshot, err, want)
		}
	})
	t.Run("AGT-7 a second agent does not take the socket away", func(t *testing.T) {
		if _, err := control.Listen(path); !errors.Is(err, control.ErrInUse) {
			t.Errorf("Listen(…) = %v, want %v", err, control.ErrInUse)
		}
	})
	t.Run("AGT-7 a socket that a killed agent left is replaced, and nothing else is", func(t *testing.T) {
		left := filepath.Join(t.TempDir(), "agent.sock")
		killed, err := net.ListenUnix("unix", &net.UnixAddr{Name: left})
		if err != nil {
			t.Fatal(err)
		}
		killed.SetUnlinkOnClose(false)
		if err := killed.Close(); err != nil {
			t.Fatal(err)
		}
		again, err := control.Listen(left)
		if err != nil {
			t.Fatal(err)
		}
		if err := again.Close(); err != nil {
			t.Error(err)
		}
		if err := os.WriteFile(left, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := control.Listen(left); err == nil {
			t.Error("a file was replaced")
		}
	})
	t.Run("AGT-6 an agent that is not there is an error", func(t *testing.T) {
		if _, err := control.NewClient(path + "x").Status(t.Context()); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("Status(…) = %v", err)
		}
	})
}
