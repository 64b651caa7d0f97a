package kubernetes_test

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/lanyard-dev/lanyard/examples/kubernetes"
)

func TestShared(t *testing.T) {
	c := shared.Cluster(t)
	t.Run("STK-13 many tests share one cluster", func(t *testing.T) {
		if again := shared.Cluster(t); again != c {
			t.Errorf("Cluster(t) = %p, want the same as before, %p", again, c)
		}
	})
	t.Run("STK-13 the real kubelet asks the real API server about certificates and tokens", func(t *testing.T) {
		nobody, err := c.Certificate("nobody", "nobodies")
		if err != nil {
			t.Fatal(err)
		}
		account, err := c.ServiceAccount(t.Context(), "default", "default")
		if err != nil {
			t.Fatal(err)
		}
		for user, want := range map[*kubernetes.User]int{
			c.Admin(): http.StatusOK, nobody: http.StatusForbidden, account: http.StatusForbidden,
		} {
			if got := status(t, user, c.Node("").URL()+"/pods"); got != want {
				t.Errorf("%s: GET /pods of the kubelet: %d, want %d", user.Name, got, want)
			}
		}
	})
	t.Run("STK-13 a token for a foreign audience is not the API server's", func(t *testing.T) {
		account, err := c.ServiceAccount(t.Context(), "default", "default", "registry.example.io")
		if err != nil {
			t.Fatal(err)
		}
		if got := status(t, account, c.URL()+"/api"); got != http.StatusUnauthorized {
			t.Errorf("GET /api: %d, want %d", got, http.StatusUnauthorized)
		}
	})
	t.Run("STK-13 a new namespace runs pods without a controller manager", func(t *testing.T) {
		if err := c.Namespace(t.Context(), "fresh"); err != nil {
			t.Fatal(err)
		}
		if _, err := c.Client().CoreV1().ServiceAccounts("fresh").Get(t.Context(), "default", metav1.GetOptions{}); err != nil {
			t.Error(err)
		}
	})
}

func TestNetwork(t *testing.T) {
	c := shared.Cluster(t)
	served := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "from outside") }))
	t.Cleanup(served.Close)
	address := served.Listener.Addr().(*net.TCPAddr)
	inside := &http.Client{Transport: &http.Transport{DialContext: c.Dial, DisableKeepAlives: true}}

	t.Run("STK-13 the cluster's network is its own", func(t *testing.T) {
		if answer, err := inside.Get(served.URL); err == nil {
			answer.Body.Close()
			t.Error("the machine's loopback is there")
		}
	})
	t.Run("STK-13 what is exposed is at the same address inside", func(t *testing.T) {
		for range 2 {
			if err := c.Expose(address.Port); err != nil {
				t.Fatal(err)
			}
		}
		answer, err := inside.Get(served.URL)
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close()
		if body, err := io.ReadAll(answer.Body); err != nil || string(body) != "from outside" {
			t.Errorf("GET = %q, %v", body, err)
		}
	})
	t.Run("STK-13 a server inside is heard inside", func(t *testing.T) {
		listener, err := c.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer listener.Close()
		go func() {
			if conn, err := listener.Accept(); err == nil {
				io.WriteString(conn, "hello")
				conn.Close()
			}
		}()
		conn, err := c.Dial(t.Context(), "tcp", listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		if said, err := io.ReadAll(conn); err != nil || string(said) != "hello" {
			t.Errorf("read %q, %v", said, err)
		}
	})
	t.Run("STK-13 a name is refused, because it would be looked up outside", func(t *testing.T) {
		if _, err := c.Dial(context.Background(), "tcp", "localhost:80"); err == nil || !strings.Contains(err.Error(), "inside the cluster") {
			t.Errorf("Dial(localhost) = %v, want that it is refused", err)
		}
	})
}
