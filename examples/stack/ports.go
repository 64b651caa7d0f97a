package stack

import "net"

// freePort returns a loopback address that nobody listens on now. A component
// keeps its address over restarts, so it is chosen once and for all.
func freePort() (string, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return listener.Addr().String(), listener.Close()
}
