package runtime

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"sync"
	"time"

	criapi "k8s.io/cri-streaming/pkg/streaming"
)

// streams is the server that clients of Exec, Attach and PortForward are sent to. It listens on loopback only: whoever
// holds a token needs no other right, so the kubelet is the one to talk to it.
type streams struct {
	criapi.Server // makes tokens, and serves them
	listener      net.Listener
	http          *http.Server
	closing       sync.Once
}

func newStreams(s *Server) (*streams, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	config := criapi.DefaultConfig
	config.Addr = l.Addr().String()
	config.BaseURL = &url.URL{Scheme: "http", Host: config.Addr}
	server, err := criapi.NewServer(config, streamBackend{s})
	if err != nil {
		return nil, errors.Join(err, l.Close())
	}
	st := &streams{Server: server, listener: &trackingListener{Listener: l}}
	st.http = &http.Server{
		Handler:           untilGone(server),
		ConnContext:       func(ctx context.Context, c net.Conn) context.Context { return context.WithValue(ctx, connKey{}, c) },
		ReadHeaderTimeout: 10 * time.Second,
	}
	return st, nil
}

func (st *streams) serve() error { return st.http.Serve(st.listener) }

// close ends all streams, also those that have taken their connection from the HTTP server.
func (st *streams) close() {
	st.closing.Do(func() {
		st.http.Close()
		st.listener.Close()
	})
}

// connKey is the context key of the request's connection.
type connKey struct{}

// untilGone ends the request's context when the client is gone. An upgraded connection is out of the HTTP server's
// hands, which would otherwise notice; but somebody reads from it all the time, so the connection itself knows.
func untilGone(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithCancelCause(r.Context())
		defer cancel(nil)
		if c, ok := ctx.Value(connKey{}).(*trackedConn); ok {
			go func() {
				select {
				case <-c.gone:
					cancel(errClientGone)
				case <-ctx.Done():
				}
			}()
		}
		next.ServeHTTP(w, r.WithContext(ctx))
	})
}

var errClientGone = errors.New("client is gone")

// trackingListener hands out connections that know when they end, and ends them with itself.
type trackingListener struct {
	net.Listener
	mu    sync.Mutex
	conns map[*trackedConn]struct{}
	done  bool
}

func (l *trackingListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	t := &trackedConn{Conn: c, gone: make(chan struct{}), owner: l}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.done {
		c.Close()
		return nil, net.ErrClosed
	}
	if l.conns == nil {
		l.conns = map[*trackedConn]struct{}{}
	}
	l.conns[t] = struct{}{}
	return t, nil
}

func (l *trackingListener) Close() error {
	err := l.Listener.Close()
	l.mu.Lock()
	l.done = true
	open := make([]*trackedConn, 0, len(l.conns))
	for c := range l.conns {
		open = append(open, c)
	}
	l.mu.Unlock()
	for _, c := range open {
		_ = c.abort()
	}
	return err
}

func (l *trackingListener) forget(c *trackedConn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.conns, c)
}

// linger is how long a finished stream waits for its client to have read everything.
const linger = 30 * time.Second

// trackedConn is a connection whose end can be waited for, and that ends gently.
type trackedConn struct {
	net.Conn
	owner *trackingListener
	once  sync.Once
	gone  chan struct{} // closed when the client is gone, or the session is over
}

func (c *trackedConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	var timeout net.Error
	if err != nil && !(errors.As(err, &timeout) && timeout.Timeout()) {
		c.end()
	}
	return n, err
}

// Close lets the client close first. cri-streaming closes as soon as it has written the last byte, and a client that
// reads slowly then finds a reset connection in the place of what was on its way.
func (c *trackedConn) Close() error {
	select {
	case <-c.gone:
		c.owner.forget(c)
		return c.Conn.Close()
	default:
	}
	c.end()
	if err := c.SetReadDeadline(time.Now().Add(linger)); err != nil {
		return c.abort()
	}
	go func() {
		_, _ = io.Copy(io.Discard, c.Conn)
		_ = c.abort()
	}()
	return nil
}

// abort closes the connection now.
func (c *trackedConn) abort() error {
	c.end()
	c.owner.forget(c)
	return c.Conn.Close()
}

func (c *trackedConn) end() { c.once.Do(func() { close(c.gone) }) }
