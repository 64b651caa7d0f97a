package runtime

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"sync"
	"time"

	"golang.org/x/sys/unix"
	"google.golang.org/grpc"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/lanyard-dev/lanyard/examples/runtime/image"
	"github.com/lanyard-dev/lanyard/execaudit/journal"
)

// maxMessage is what the kubelet allows for a CRI message too.
const maxMessage = 16 << 20 // 16 MiB

// Server is the runtime: both CRI services, and the streaming server behind them.
type Server struct {
	runtimeapi.UnimplementedRuntimeServiceServer
	runtimeapi.UnimplementedImageServiceServer

	config  Config
	lock    *os.File
	images  *image.Store
	journal *journal.Writer
	streams *streams

	// background ends with Close, which waits for the workers in it.
	background context.Context
	stop       context.CancelFunc
	workers    sync.WaitGroup

	mu         sync.Mutex
	sandboxes  map[string]*sandbox
	containers map[string]*container
}

// New opens the state directory, takes up the pods and containers in it and is ready to serve. Only one runtime may use
// a directory at a time: another one is an error. Close it when done; containers go on.
func New(config Config) (*Server, error) {
	config, err := config.withDefaults()
	if err != nil {
		return nil, err
	}
	s := &Server{config: config, sandboxes: map[string]*sandbox{}, containers: map[string]*container{}}
	s.background, s.stop = context.WithCancel(context.Background())
	if err := s.open(); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

func (s *Server) open() error {
	var err error
	for _, sub := range []string{"sandboxes", "containers", "runc"} {
		if err := os.MkdirAll(s.path(sub), 0o700); err != nil {
			return err
		}
	}
	if s.lock, err = lockFile(s.path("lock")); err != nil {
		return err
	}
	if err := os.RemoveAll(s.path("tmp")); err != nil {
		return err
	}
	if err := os.Mkdir(s.path("tmp"), 0o700); err != nil {
		return err
	}
	if s.journal, err = s.openJournal(); err != nil {
		return err
	}
	if err := s.recover(); err != nil {
		return err
	}
	if err := s.endOpenSessions(); err != nil {
		return err
	}
	s.images, err = image.Open(s.path("store"), s.config.Limits, s.layersInUse)
	if err != nil {
		return err
	}
	s.streams, err = newStreams(s)
	return err
}

// lockWait is how long the lock may outlive a runtime that was killed: a child of it that has not come to its exec yet
// still has the file.
const lockWait = time.Second

func lockFile(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	if err := whileLocked(unix.EWOULDBLOCK, func() error { return unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB) }); err != nil {
		f.Close()
		return nil, fmt.Errorf("%s: another runtime uses this directory: %w", path, err)
	}
	return f, nil
}

// whileLocked tries again for lockWait as long as the error is that of a lock which somebody has.
func whileLocked(locked error, try func() error) error {
	for until := time.Now().Add(lockWait); ; time.Sleep(10 * time.Millisecond) {
		if err := try(); !errors.Is(err, locked) || time.Now().After(until) {
			return err
		}
	}
}

func (s *Server) path(parts ...string) string {
	return filepath.Join(append([]string{s.config.Root}, parts...)...)
}

// Serve answers CRI calls on the socket until ctx is done, then ends open streams and returns nil. Containers go on. It
// may be called once.
func (s *Server) Serve(ctx context.Context) error {
	if err := os.Remove(s.config.Socket); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	l, err := net.Listen("unix", s.config.Socket)
	if err != nil {
		return err
	}
	g := grpc.NewServer(
		grpc.MaxRecvMsgSize(maxMessage), grpc.MaxSendMsgSize(maxMessage),
		grpc.ChainUnaryInterceptor(s.interceptors()...),
	)
	runtimeapi.RegisterRuntimeServiceServer(g, s)
	runtimeapi.RegisterImageServiceServer(g, s)
	failed := make(chan error, 2)
	go func() { failed <- g.Serve(l) }()
	go func() { failed <- s.streams.serve() }()
	select {
	case err = <-failed:
	case <-ctx.Done():
		err = nil
	}
	s.streams.close()
	stopGracefully(g)
	return err
}

func (s *Server) interceptors() []grpc.UnaryServerInterceptor {
	if s.config.Interceptor == nil {
		return []grpc.UnaryServerInterceptor{withStatus}
	}
	return []grpc.UnaryServerInterceptor{withStatus, s.config.Interceptor}
}

// stopGracefully lets calls under way finish for a moment.
func stopGracefully(g *grpc.Server) {
	t := time.AfterFunc(2*time.Second, g.Stop)
	defer t.Stop()
	g.GracefulStop()
}

// inBackground runs work beside its caller, or not at all once the server is being closed.
func (s *Server) inBackground(work func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.background.Err() == nil {
		s.workers.Go(work)
	}
}

// stopBackground ends it: no worker begins any more, those there are have ended.
func (s *Server) stopBackground() {
	s.mu.Lock()
	s.stop()
	s.mu.Unlock()
	s.workers.Wait()
}

// Close gives the directory back. Containers go on, exec sessions end.
func (s *Server) Close() error {
	var errs []error
	if s.streams != nil {
		s.streams.close()
	}
	s.stopBackground()
	if s.journal != nil {
		errs = append(errs, s.journal.Close())
	}
	if s.lock != nil {
		errs = append(errs, s.lock.Close())
	}
	return errors.Join(errs...)
}
