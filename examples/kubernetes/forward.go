package kubernetes

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/netip"
	"strconv"
	"sync"
)

// Ports are taken below the range from which systems choose those of clients, so that no client inside has one that a
// component is going to want.
const (
	firstPort = 12_000
	lastPort  = 32_000
)

const loopback = "127.0.0.1"

// forwarder accepts connections on one side of the namespace and carries them to the other.
type forwarder struct {
	listener net.Listener
	dial     func() (net.Conn, error)

	mu     sync.Mutex
	closed bool
	open   map[net.Conn]bool
	work   sync.WaitGroup
}

func forward(l net.Listener, dial func() (net.Conn, error)) *forwarder {
	f := &forwarder{listener: l, dial: dial, open: map[net.Conn]bool{}}
	f.work.Go(f.accept)
	return f
}

func (f *forwarder) accept() {
	for {
		from, err := f.listener.Accept()
		if err != nil {
			return
		}
		f.work.Go(func() { f.carry(from) })
	}
}

// carry copies both ways until both are done. The end of one direction is passed on.
func (f *forwarder) carry(from net.Conn) {
	defer from.Close()
	to, err := f.dial()
	if err != nil {
		return
	}
	defer to.Close()
	if !f.hold(from, to) {
		return
	}
	defer f.release(from, to)
	var both sync.WaitGroup
	both.Go(func() { pass(to, from) })
	both.Go(func() { pass(from, to) })
	both.Wait()
}

func pass(to, from net.Conn) {
	_, err := io.Copy(to, from)
	if half, ok := to.(interface{ CloseWrite() error }); ok && err == nil {
		_ = half.CloseWrite()
		return
	}
	// Nobody reads on one side: neither has more to say.
	to.Close()
	from.Close()
}

func (f *forwarder) hold(conns ...net.Conn) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, c := range conns {
		f.open[c] = true
	}
	return !f.closed
}

func (f *forwarder) release(conns ...net.Conn) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, c := range conns {
		delete(f.open, c)
	}
}

// close ends the listener and every connection, and returns when nothing of it runs.
func (f *forwarder) close() {
	f.listener.Close()
	f.mu.Lock()
	f.closed = true
	for c := range f.open {
		c.Close()
	}
	f.mu.Unlock()
	f.work.Wait()
}

// reserve makes a port of the machine's loopback lead to the same port inside, and returns it.
func (c *Cluster) reserve() (int, error) {
	var errs []error
	for range 100 {
		port := firstPort + rand.IntN(lastPort-firstPort)
		address := net.JoinHostPort(loopback, strconv.Itoa(port))
		listener, err := net.Listen("tcp", address)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		f := forward(listener, func() (net.Conn, error) { return c.Dial(context.Background(), "tcp", address) })
		c.atEnd(func() error { f.close(); return nil })
		return port, nil
	}
	return 0, errors.Join(errs...)
}

// Expose makes a port of the cluster's loopback lead to the same port of the machine's, where the caller serves
// something: a registry, a webhook. It stays so until Stop; again is no error.
func (c *Cluster) Expose(port int) error {
	c.mu.Lock()
	_, again := c.exposed[port]
	c.exposed[port] = true
	c.mu.Unlock()
	if again {
		return nil
	}
	address := net.JoinHostPort(loopback, strconv.Itoa(port))
	listener, err := c.Listen("tcp", address)
	if err != nil {
		return err
	}
	f := forward(listener, func() (net.Conn, error) { return net.Dial("tcp", address) })
	c.atEnd(func() error { f.close(); return nil })
	return nil
}

// Dial connects to an address inside the cluster's network: an IP address with a port, or a path for "unix".
func (c *Cluster) Dial(ctx context.Context, network, address string) (conn net.Conn, err error) {
	if err := numeric(network, address); err != nil {
		return nil, err
	}
	err = c.spaces.do(func() error {
		var dialer net.Dialer
		conn, err = dialer.DialContext(ctx, network, address)
		return err
	})
	return conn, err
}

// Listen listens inside the cluster's network: at an IP address with a port.
func (c *Cluster) Listen(network, address string) (listener net.Listener, err error) {
	if err := numeric(network, address); err != nil {
		return nil, err
	}
	err = c.spaces.do(func() error {
		listener, err = net.Listen(network, address)
		return err
	})
	return listener, err
}

// numeric refuses names: they are looked up, and connected to, on threads that are not inside.
func numeric(network, address string) error {
	if network == "unix" {
		return nil
	}
	if _, err := netip.ParseAddrPort(address); err != nil {
		return fmt.Errorf("address inside the cluster: %w", err)
	}
	return nil
}
