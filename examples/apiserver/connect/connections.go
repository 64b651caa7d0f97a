package connect

import (
	"context"
	"errors"
	"net"
	"sync"
)

// errClosing is what new connections get while the server stops.
var errClosing = errors.New("the API server is shutting down")

// connections remembers what it dialled, so that all of it can be closed: a session that was upgraded belongs to no
// server any more, and would keep its client waiting.
type connections struct {
	dialer *net.Dialer

	mu     sync.Mutex
	open   map[*connection]struct{}
	closed bool
}

func newConnections(dialer *net.Dialer) *connections {
	return &connections{dialer: dialer, open: map[*connection]struct{}{}}
}

func (c *connections) dial(ctx context.Context, network, address string) (net.Conn, error) {
	raw, err := c.dialer.DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	conn := &connection{Conn: raw, from: c}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		_ = raw.Close()
		return nil, errClosing
	}
	c.open[conn] = struct{}{}
	return conn, nil
}

func (c *connections) count() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.open)
}

func (c *connections) close() {
	c.mu.Lock()
	c.closed = true
	open := c.open
	c.open = map[*connection]struct{}{}
	c.mu.Unlock()
	for conn := range open {
		_ = conn.Conn.Close()
	}
}

// connection forgets itself when closed.
type connection struct {
	net.Conn
	from *connections
}

func (c *connection) Close() error {
	c.from.mu.Lock()
	delete(c.from.open, c)
	c.from.mu.Unlock()
	return c.Conn.Close()
}
