package runtime

import (
	"context"
	"errors"
	"io"
	"net"
	"strconv"

	"github.com/lanyard-dev/lanyard/examples/runtime/namespace"
)

// forward connects the client with a port on the pod's loopback, IPv4 first.
func (s *Server) forward(ctx context.Context, sandboxID string, port int32, client io.ReadWriteCloser) error {
	b := s.sandbox(sandboxID)
	if b == nil {
		return sandboxNotFound(sandboxID)
	}
	var conn net.Conn
	err := namespace.Do(b.dir, func() (err error) {
		conn, err = dialLoopback(ctx, port)
		return err
	})
	if err != nil {
		return err
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { conn.Close() })()
	return splice(conn, client)
}

// dialLoopback connects by address and not by name: a lookup might happen on another thread, in another namespace.
func dialLoopback(ctx context.Context, port int32) (net.Conn, error) {
	var errs []error
	for _, host := range []string{"127.0.0.1", "::1"} {
		c, err := new(net.Dialer).DialContext(ctx, "tcp", net.JoinHostPort(host, strconv.Itoa(int(port))))
		if err == nil {
			return c, nil
		}
		errs = append(errs, err)
	}
	return nil, errors.Join(errs...)
}

// splice copies both ways until both have ended, or the pod's side has.
func splice(pod net.Conn, client io.ReadWriteCloser) error {
	go func() {
		_, _ = io.Copy(pod, client)
		if half, ok := pod.(interface{ CloseWrite() error }); ok {
			_ = half.CloseWrite()
		}
	}()
	_, err := io.Copy(client, pod)
	return err
}
