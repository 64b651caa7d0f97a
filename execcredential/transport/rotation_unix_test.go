//go:build unix

package transport_test

import (
	"bufio"
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/lanyard-dev/lanyard/execcredential"
	"github.com/lanyard-dev/lanyard/execcredential/internal/loginlab"
	"github.com/lanyard-dev/lanyard/execcredential/transport"
)

func dialNothing(context.Context, string, string) (net.Conn, error) { return nil, net.ErrClosed }

// stage is a server that tells who called, over which connection, and streams lines until the request ends.
type stage struct {
	*httptest.Server
	lines chan string
}

func newStage(t *testing.T, authority *loginlab.Authority) *stage {
	s := &stage{lines: make(chan string)}
	mux := http.NewServeMux()
	mux.HandleFunc("/who", func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, "%s %s %s", peer(r), r.RemoteAddr, r.Proto)
	})
	mux.HandleFunc("/watch", func(w http.ResponseWriter, r *http.Request) {
		_ = http.NewResponseController(w).Flush()
		for line := range s.lines {
			fmt.Fprintln(w, line)
			_ = http.NewResponseController(w).Flush()
		}
	})
	s.Server = authority.Server(t, mux)
	return s
}

func TestCertificateRotation(t *testing.T) {
	for _, http2 := range []bool{false, true} {
		name := map[bool]string{false: "HTTP/1.1", true: "HTTP/2"}[http2]
		authority := loginlab.NewAuthority(t)
		stage := newStage(t, authority)
		now := newClock()
		plugin := loginlab.NewPlugin(t, "")
		present := func(who string) {
			certificate, key := authority.Client(t, who, time.Now().Add(-time.Hour), 2*time.Hour)
			plugin.Status("", certificate, key, now.Now().Add(time.Hour))
		}
		base, err := transport.Base(execcredential.Cluster{CertificateAuthorityData: authority.PEM})
		if err != nil {
			t.Fatal(err)
		}
		base.ForceAttemptHTTP2 = http2
		base.TLSClientConfig.ClientSessionCache = tls.NewLRUClientSessionCache(8)
		dialed := &dialer{}
		base.DialContext = dialed.dial
		source := newSource(t, newPool(t, transport.Options{Now: now.Now}), plugin.Config())
		rt, err := source.RoundTripper(base)
		if err != nil {
			t.Fatal(err)
		}
		client := &http.Client{Transport: rt}

		present("one")
		_, before := get(t, client, stage.URL+"/who")
		t.Run("ECR-8 "+name+" a valid certificate keeps its connection", func(t *testing.T) {
			if _, again := get(t, client, stage.URL+"/who"); again != before || plugin.Runs() != 1 {
				t.Errorf("who = %q then %q, runs %d", before, again, plugin.Runs())
			}
		})
		watch := newWatch(t, client, stage)
		watch.expect(t, "first")

		present("two")
		now.Advance(2 * time.Hour)
		_, after := get(t, client, stage.URL+"/who")
		t.Run("ECR-8 ECR-18 "+name+" a new request uses the new certificate on a new connection", func(t *testing.T) {
			var who, address, beforeAddress string
			fmt.Sscan(after, &who, &address)
			fmt.Sscan(before, new(string), &beforeAddress)
			if who != "two" || address == beforeAddress {
				t.Errorf("who = %q after %q", after, before)
			}
		})
		t.Run("ECR-8 ECR-18 "+name+" a stream in flight goes on over the old connection", func(t *testing.T) {
			watch.expect(t, "second")
		})
		t.Run("ECR-8 "+name+" a refresh that brings the same certificate keeps the connection", func(t *testing.T) {
			certificate := plugin.File("answer")
			now.Advance(2 * time.Hour)
			plugin.Answer(string(certificate)) // still expired, used all the same
			if _, again := get(t, client, stage.URL+"/who"); again != after || plugin.Runs() != 3 {
				t.Errorf("who = %q, runs %d, want %q, 3", again, plugin.Runs(), after)
			}
		})
		t.Run("ECR-8 "+name+" when the stream ends its connection is closed", func(t *testing.T) {
			watch.end()
			eventually(t, "one connection left", func() bool { return dialed.count() == 1 })
		})
		t.Run("ECR-8 "+name+" after the source is closed no connection is left", func(t *testing.T) {
			source.Close()
			eventually(t, "no connection left", func() bool { return dialed.count() == 0 })
			if _, err := client.Get(stage.URL + "/who"); err == nil {
				t.Error("Get after Close = nil, want ErrClosed")
			}
		})
	}
}

func TestFiftyRotationsUnderAWatch(t *testing.T) {
	t.Run("ECR-18 a stream survives fifty rotations of token and certificate and misses no line", func(t *testing.T) {
		authority := loginlab.NewAuthority(t)
		stage := newStage(t, authority)
		plugin := loginlab.NewPlugin(t, "")
		source := newSource(t, newPool(t, transport.Options{}), plugin.Config())
		client := newClient(t, authority, source, true)
		rotate := func(i int) {
			certificate, key := authority.Client(t, fmt.Sprint("user-", i), time.Now().Add(-time.Hour), 2*time.Hour)
			plugin.Status(fmt.Sprint("token-", i), certificate, key, time.Time{})
			source.Reset()
		}
		rotate(0)
		watch := newWatch(t, client, stage)
		for i := 1; i <= 50; i++ {
			rotate(i)
			var who string
			_, body := get(t, client, stage.URL+"/who")
			if fmt.Sscan(body, &who); who != fmt.Sprint("user-", i) {
				t.Fatalf("rotation %d: who = %q", i, who)
			}
			watch.expect(t, fmt.Sprint("line ", i))
		}
		watch.end()
	})
}

// dialer counts the connections that are open.
type dialer struct {
	mu   sync.Mutex
	open int
}

func (d *dialer) dial(ctx context.Context, network, address string) (net.Conn, error) {
	conn, err := (&net.Dialer{}).DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.open++
	return &countedConn{Conn: conn, dialer: d}, nil
}

func (d *dialer) count() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.open
}

type countedConn struct {
	net.Conn
	dialer *dialer
	once   sync.Once
}

func (c *countedConn) Close() error {
	c.once.Do(func() {
		c.dialer.mu.Lock()
		defer c.dialer.mu.Unlock()
		c.dialer.open--
	})
	return c.Conn.Close()
}

// watch is a long response that is read line by line.
type watch struct {
	stage    *stage
	response *http.Response
	scanner  *bufio.Scanner
}

func newWatch(t *testing.T, client *http.Client, stage *stage) *watch {
	t.Helper()
	response, err := client.Get(stage.URL + "/watch")
	if err != nil {
		t.Fatal(err)
	}
	return &watch{stage: stage, response: response, scanner: bufio.NewScanner(response.Body)}
}

func (w *watch) expect(t *testing.T, line string) {
	t.Helper()
	w.stage.lines <- line
	if !w.scanner.Scan() || w.scanner.Text() != line {
		t.Fatalf("watch = %q, %v, want %q", w.scanner.Text(), w.scanner.Err(), line)
	}
}

func (w *watch) end() {
	close(w.stage.lines)
	w.response.Body.Close()
}
