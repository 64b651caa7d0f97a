package stack

import (
	"errors"
	"math/rand/v2"
	"net"
	"strconv"
	"sync"
)

// Ports are taken below the range from which systems choose those of clients, so that
// no connection has one while its component is down.
const (
	firstPort = 12_000
	lastPort  = 32_000
)

// taken are the ports that this process has given out.
var taken sync.Map

// freePort returns a loopback address that nobody listens on now, and that this process gives out once. A component
// keeps its address over restarts, so it is chosen once and for all.
func freePort() (string, error) {
	var errs []error
	for range 100 {
		port := firstPort + rand.IntN(lastPort-firstPort)
		if _, again := taken.LoadOrStore(port, true); again {
			continue
		}
		listener, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
		if err != nil {
			errs = append(errs, err)
			continue
		}
		return listener.Addr().String(), listener.Close()
	}
	return "", errors.Join(errs...)
}
