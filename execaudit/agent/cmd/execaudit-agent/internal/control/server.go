//go:build linux

package control

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"github.com/lanyard-dev/lanyard/execaudit/agent/cmd/execaudit-agent/internal/board"
)

// ErrInUse: another agent listens at the socket.
var ErrInUse = errors.New("another agent listens there")

// umask keeps what is made between two calls of it for its owner alone: a socket gets its mode when it is made.
var umask sync.Mutex

// Listen makes the socket, which root alone may connect to, and its directory if it is not there. A socket that a
// killed agent left behind is replaced.
func Listen(path string) (net.Listener, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, err
	}
	if c, err := net.Dial("unix", path); err == nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", path, ErrInUse), c.Close())
	}
	if info, err := os.Lstat(path); err == nil && info.Mode().Type() == os.ModeSocket {
		if err := os.Remove(path); err != nil {
			return nil, err
		}
	}
	umask.Lock()
	defer umask.Unlock()
	defer syscall.Umask(syscall.Umask(0o177))
	return net.Listen("unix", path)
}

// Handler answers.
//
//	/status    a board.Status, in JSON
//	/snapshot  a board.Snapshot, in JSON
func Handler(b *board.Board) http.Handler {
	mux := http.NewServeMux()
	answer := func(path string, what func() any) {
		mux.HandleFunc("GET "+path, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			_ = json.NewEncoder(w).Encode(what()) // nobody is left to be told
		})
	}
	answer(pathStatus, func() any { return b.Status() })
	answer(pathSnapshot, func() any { return b.Snapshot() })
	return mux
}

// Serve answers until the context ends.
func Serve(ctx context.Context, listener net.Listener, handler http.Handler) error {
	server := &http.Server{
		Handler: handler, ReadHeaderTimeout: 10 * time.Second, WriteTimeout: time.Minute, IdleTimeout: time.Minute, MaxHeaderBytes: 16 << 10,
	}
	stop := context.AfterFunc(ctx, func() { _ = server.Close() })
	defer stop()
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}
