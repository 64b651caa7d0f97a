package apiserver_test

import (
	"context"
	"errors"
	"net"
	"runtime"
	"sync"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/remotecommand"
)

const (
	manyWatchers = 500
	manySessions = 200
	// maxShutdown is how long a stop may take whatever is open.
	maxShutdown = 10 * time.Second
)

// TestLoad holds many watches and sessions at once and stops the server under them.
func TestLoad(t *testing.T) {
	before := heap()
	goroutines := runtime.NumGoroutine()
	c := start(t, nil)
	watchers := watchMany(t, c)
	sessions := execMany(t, c)
	t.Run("STK-4 every one of 500 watches sees a change", func(t *testing.T) {
		client := c.client(t, c.admin())
		must(client.CoreV1().Nodes().Patch(t.Context(), "n1", "application/merge-patch+json", []byte(`{"metadata":{"labels":{"seen":"yes"}}}`), metav1.PatchOptions{}))(t)
		for i, w := range watchers {
			if event := next(t, w); event.Type != watch.Modified {
				t.Fatalf("watch %d saw %v", i, event.Type)
			}
		}
	})
	t.Run("STK-4 EXA-23 200 sessions hold, each with its own audit ID", func(t *testing.T) {
		seen := map[string]bool{}
		c.kubelet.mu.Lock()
		for _, location := range c.kubelet.requests {
			for _, id := range location.Query()["env"] {
				seen[id] = true
			}
		}
		c.kubelet.mu.Unlock()
		if len(seen) != manySessions || c.Sessions() < manySessions {
			t.Errorf("%d audit IDs, %d connections to the kubelet, want %d", len(seen), c.Sessions(), manySessions)
		}
	})
	begin := time.Now()
	c.shutdown(t)
	took := time.Since(begin)
	t.Run("STK-4 a stop ends all within ten seconds, sessions with an error", func(t *testing.T) {
		if took > maxShutdown {
			t.Errorf("the stop took %v", took)
		}
		for i := range manySessions {
			select {
			case err := <-sessions:
				if err == nil {
					t.Error("a session ended as if its command had succeeded")
				}
			case <-time.After(5 * time.Second):
				t.Fatalf("only %d of %d sessions ended", i, manySessions)
			}
		}
		for _, w := range watchers {
			w.Stop()
		}
	})
	t.Run("STK-4 memory and goroutines return", func(t *testing.T) {
		c.kubelet.release()
		eventually(t, "the goroutines of sessions and watches end", func() bool { return runtime.NumGoroutine() < goroutines+100 })
		if after := heap(); after > before+100<<20 {
			t.Errorf("heap = %d MiB, was %d MiB", after>>20, before>>20)
		}
	})
	t.Logf("stopped in %v", took)
}

func TestLostKubelet(t *testing.T) {
	c := start(t, nil)
	for name, spdy := range map[string]bool{"WebSocket": false, "SPDY": true} {
		t.Run("STK-4 a session whose kubelet is lost ends with an error over "+name, func(t *testing.T) {
			ended := make(chan error, 1)
			opened := make(chan struct{})
			s := session{spdy: spdy, stdout: &firstWrite{do: func() { close(opened) }}}
			go func() {
				_, err := c.exec(t, c.admin(), s, "wait")
				ended <- err
			}()
			<-opened
			c.kubelet.cut()
			if err := <-ended; err == nil || errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("the session ended with %v", err)
			}
		})
	}
}

// heap returns the bytes in use after a collection.
func heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// watchMany opens watches of the nodes from now on.
func watchMany(t *testing.T, c *cluster) []watch.Interface {
	t.Helper()
	var watchers []watch.Interface
	for range manyWatchers / 100 { // a connection carries a hundred
		client := c.client(t, ownConnection(c.admin()))
		list := must(client.CoreV1().Nodes().List(t.Context(), metav1.ListOptions{}))(t)
		for range 100 {
			w := must(client.CoreV1().Nodes().Watch(t.Context(), metav1.ListOptions{ResourceVersion: list.ResourceVersion}))(t)
			t.Cleanup(w.Stop)
			watchers = append(watchers, w)
		}
	}
	return watchers
}

// ownConnection keeps a configuration from sharing the transport of equal ones.
func ownConnection(config *rest.Config) *rest.Config {
	config.Dial = (&net.Dialer{}).DialContext
	return config
}

func next(t *testing.T, w watch.Interface) watch.Event {
	t.Helper()
	select {
	case event := <-w.ResultChan():
		return event
	case <-time.After(20 * time.Second):
		t.Fatal("no event")
		return watch.Event{}
	}
}

// execMany opens sessions, half of them WebSocket and half SPDY, that wait; each sends how it ended.
func execMany(t *testing.T, c *cluster) <-chan error {
	t.Helper()
	ended := make(chan error, manySessions)
	var open sync.WaitGroup
	for i := range manySessions {
		open.Add(1)
		s := session{spdy: i%2 == 0}
		e := executor(t, c.admin(), s, c.execURL(s, "wait"))
		go func() {
			out := &firstWrite{do: open.Done}
			err := e.StreamWithContext(context.Background(), remotecommand.StreamOptions{Stdout: out})
			out.Write(nil)
			ended <- err
		}()
	}
	done := make(chan struct{})
	go func() { open.Wait(); close(done) }()
	select {
	case <-done:
	case <-time.After(60 * time.Second):
		t.Fatal("the sessions did not open")
	}
	return ended
}

// firstWrite calls do once.
type firstWrite struct {
	once sync.Once
	do   func()
}

func (f *firstWrite) Write(p []byte) (int, error) {
	f.once.Do(f.do)
	return len(p), nil
}
