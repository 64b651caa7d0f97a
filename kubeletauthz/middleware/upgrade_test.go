package middleware_test

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/lanyard-dev/lanyard/kubeletauthz"
	"github.com/lanyard-dev/lanyard/kubeletauthz/authorize"
	"github.com/lanyard-dev/lanyard/kubeletauthz/middleware"
)

// shell is an exec handler that takes the connection over, as a WebSocket server does, and answers a line.
func shell(t *testing.T) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("/exec/", func(w http.ResponseWriter, _ *http.Request) {
		conn, stream, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Errorf("Hijack error = %v", err)
			return
		}
		defer conn.Close()
		_, _ = stream.WriteString("HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n")
		_ = stream.Flush()
		command, _ := stream.ReadString('\n')
		_, _ = stream.WriteString("ran " + command)
		_ = stream.Flush()
	})
	return mux
}

// dial opens an exec session as a WebSocket client does: with a GET.
func dial(t *testing.T, address, user string) (status int, answer string) {
	t.Helper()
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprintf(conn, "GET /exec/ns/pod/app?command=id HTTP/1.1\r\nHost: kubelet\r\nX-User: %s\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"+
		"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n", user)
	stream := bufio.NewReader(conn)
	response, err := http.ReadResponse(stream, nil)
	if err != nil {
		t.Fatal(err)
	}
	if response.StatusCode == http.StatusSwitchingProtocols {
		fmt.Fprintln(conn, "id")
		answer, _ = stream.ReadString('\n')
	}
	return response.StatusCode, answer
}

func TestWebSocketExec(t *testing.T) {
	for _, c := range []struct {
		name     string
		user     string
		hardened bool
		code     int
	}{
		{"KAZ-11 upstream: get nodes/proxy runs a command", "proxy", false, 101},
		{"KAZ-11 hardened: get nodes/proxy does not", "proxy", true, 403},
		{"KAZ-11 hardened: create nodes/proxy does", "creator", true, 101},
		{"KAZ-11 nodes/pods does not", "pods", false, 403},
	} {
		t.Run(c.name, func(t *testing.T) {
			guard, err := middleware.New(middleware.Options{
				Authenticator: byHeader, Authorizer: authorize.New(roles(agents), authorize.Options{}),
				Mapper: mapper(t, kubeletauthz.Options{HardenedVerbs: c.hardened}),
			})
			if err != nil {
				t.Fatal(err)
			}
			kubelet := httptest.NewServer(guard(shell(t)))
			defer kubelet.Close()
			code, answer := dial(t, kubelet.Listener.Addr().String(), c.user)
			if code != c.code || (answer == "ran id\n") != (c.code == 101) {
				t.Errorf("exec by %s = %d %q, want %d", c.user, code, answer, c.code)
			}
		})
	}
}
