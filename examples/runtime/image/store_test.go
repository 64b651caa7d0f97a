package image_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-containerregistry/pkg/authn"
	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/lanyard-dev/lanyard/examples/runtime/image"
	"github.com/lanyard-dev/lanyard/examples/testimage"
)

// world is a store and a registry.
type world struct {
	*image.Store
	dir      string
	registry *testimage.Registry
	blobs    atomic.Int32 // blobs that were asked for
	fault    atomic.Pointer[func(w http.ResponseWriter, r *http.Request) http.ResponseWriter]
}

func newWorld(t *testing.T, inUse func() map[string]bool) *world {
	t.Helper()
	needRoot(t)
	w := &world{dir: t.TempDir()}
	w.registry = testimage.NewRegistry(w.wrap)
	t.Cleanup(w.registry.Close)
	w.reopen(t, inUse)
	return w
}

func (w *world) reopen(t *testing.T, inUse func() map[string]bool) {
	t.Helper()
	var err error
	if w.Store, err = image.Open(w.dir, image.Limits{}, inUse); err != nil {
		t.Fatal(err)
	}
}

func (w *world) wrap(next http.Handler) http.Handler {
	return http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet && strings.Contains(r.URL.Path, "/blobs/") {
			w.blobs.Add(1)
			if f := w.fault.Load(); f != nil {
				rw = (*f)(rw, r)
			}
		}
		next.ServeHTTP(rw, r)
	})
}

func (w *world) breaks(f func(w http.ResponseWriter, r *http.Request) http.ResponseWriter) {
	w.fault.Store(&f)
}

func (w *world) push(t *testing.T, as string, layers ...v1.Layer) string {
	t.Helper()
	i, err := testimage.FromLayers(v1.Config{User: "alice"}, layers...)
	if err != nil {
		t.Fatal(err)
	}
	ref, err := w.registry.Push(as, i)
	if err != nil {
		t.Fatal(err)
	}
	return ref
}

func (w *world) count(t *testing.T, sub string) int {
	t.Helper()
	entries, err := os.ReadDir(filepath.Join(w.dir, sub))
	if err != nil {
		t.Fatal(err)
	}
	return len(entries)
}

func layerOf(t *testing.T, name string, size int) v1.Layer {
	t.Helper()
	l, err := testimage.Layer(testimage.File(name, 0o644, strings.Repeat(name, size/len(name))))
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func TestPull(t *testing.T) {
	ctx := t.Context()
	t.Run("STK-2 an image is found by ID, tag and digest, with its user", func(t *testing.T) {
		w := newWorld(t, nil)
		ref := w.push(t, "app:v1", layerOf(t, "a", 10))
		i, err := w.Pull(ctx, ref, authn.AuthConfig{})
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{ref, i.ID, strings.TrimPrefix(i.ID, "sha256:"), i.Digests[0], i.Tags[0]} {
			if got, err := w.Find(name); err != nil || got.ID != i.ID || got.Config.User != "alice" {
				t.Errorf("Find(%s) = %v, %v", name, got.ID, err)
			}
		}
		if _, err := w.Find("nobody/knows:it"); !errors.Is(err, image.ErrNotFound) {
			t.Errorf("Find = %v, want ErrNotFound", err)
		}
	})
	t.Run("STK-2 a layer is fetched and kept once, and goes with its last image", func(t *testing.T) {
		w := newWorld(t, nil)
		shared := layerOf(t, "shared", 1000)
		first := w.push(t, "one:v1", shared, layerOf(t, "one", 10))
		second := w.push(t, "two:v1", shared, layerOf(t, "two", 10))
		for _, ref := range []string{first, second} {
			if _, err := w.Pull(ctx, ref, authn.AuthConfig{}); err != nil {
				t.Fatal(err)
			}
		}
		// Two configurations and three layers.
		if got := w.blobs.Load(); got != 5 {
			t.Errorf("%d blobs were asked for, want 5", got)
		}
		if got := w.count(t, "layers"); got != 3 {
			t.Errorf("%d layers, want 3", got)
		}
		if err := w.Remove(first); err != nil || w.count(t, "layers") != 2 {
			t.Errorf("after the first image: %d layers, %v, want 2", w.count(t, "layers"), err)
		}
		if err := w.Remove(second); err != nil || w.count(t, "layers") != 0 {
			t.Errorf("after the second image: %d layers, %v, want none", w.count(t, "layers"), err)
		}
	})
	t.Run("STK-2 equal pulls at once unpack once", func(t *testing.T) {
		w := newWorld(t, nil)
		ref := w.push(t, "app:v1", layerOf(t, "a", 1<<20))
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(func() {
				if _, err := w.Pull(ctx, ref, authn.AuthConfig{}); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		// Eight configurations and one layer.
		if got := w.blobs.Load(); got != 9 {
			t.Errorf("%d blobs were asked for, want 9", got)
		}
	})
	t.Run("STK-2 a layer stays while a container uses it, and an image that takes over a tag leaves the other its rest", func(t *testing.T) {
		layer := layerOf(t, "used", 10)
		id, err := layer.DiffID()
		if err != nil {
			t.Fatal(err)
		}
		w := newWorld(t, func() map[string]bool { return map[string]bool{id.String(): true} })
		ref := w.push(t, "app:v1", layer)
		old, err := w.Pull(ctx, ref, authn.AuthConfig{})
		if err != nil {
			t.Fatal(err)
		}
		w.push(t, "app:v1", layerOf(t, "new", 10))
		if _, err := w.Pull(ctx, ref, authn.AuthConfig{}); err != nil {
			t.Fatal(err)
		}
		if got, err := w.Find(old.ID); err != nil || len(got.Tags) != 0 || len(got.Digests) != 1 {
			t.Errorf("old image = %+v, %v, want it without a tag", got, err)
		}
		if err := errors.Join(w.Remove(old.ID), w.Remove(ref)); err != nil || w.count(t, "layers") != 1 {
			t.Errorf("%d layers, %v, want the used one", w.count(t, "layers"), err)
		}
	})
	t.Run("STK-2 images outlive the process", func(t *testing.T) {
		w := newWorld(t, nil)
		ref := w.push(t, "app:v1", layerOf(t, "a", 10))
		want, err := w.Pull(ctx, ref, authn.AuthConfig{})
		if err != nil {
			t.Fatal(err)
		}
		w.reopen(t, nil)
		if got, err := w.Find(ref); err != nil || got.ID != want.ID {
			t.Errorf("Find = %v, %v", got.ID, err)
		}
	})
}

// TestPullFaults has registries that fail; nothing of the image may be usable, or left, and a second try must do.
func TestPullFaults(t *testing.T) {
	for _, tt := range []struct {
		name   string
		breaks func(w http.ResponseWriter, r *http.Request) http.ResponseWriter
	}{
		{"dies in the middle of a layer", func(w http.ResponseWriter, _ *http.Request) http.ResponseWriter {
			return &cut{w, 2000}
		}},
		{"serves a layer with another content", func(w http.ResponseWriter, _ *http.Request) http.ResponseWriter {
			return &flip{w}
		}},
	} {
		t.Run("STK-2 a registry that "+tt.name, func(t *testing.T) {
			w := newWorld(t, nil)
			ref := w.push(t, "app:v1", layerOf(t, "a", 1<<20))
			w.breaks(tt.breaks)
			if _, err := w.Pull(t.Context(), ref, authn.AuthConfig{}); err == nil {
				t.Fatal("pull succeeded")
			}
			if _, err := w.Find(ref); !errors.Is(err, image.ErrNotFound) {
				t.Errorf("Find = %v, want ErrNotFound", err)
			}
			if w.count(t, "layers")+w.count(t, "tmp") != 0 {
				t.Errorf("%d layers and %d temporary directories are left", w.count(t, "layers"), w.count(t, "tmp"))
			}
			w.fault.Store(nil)
			if _, err := w.Pull(t.Context(), ref, authn.AuthConfig{}); err != nil {
				t.Errorf("second pull: %v", err)
			}
		})
	}
	t.Run("STK-2 a pull whose caller goes away", func(t *testing.T) {
		w := newWorld(t, nil)
		ref := w.push(t, "app:v1", layerOf(t, "a", 8<<20))
		ctx, cancel := context.WithCancel(t.Context())
		w.breaks(func(rw http.ResponseWriter, r *http.Request) http.ResponseWriter {
			cancel()
			<-r.Context().Done()
			return rw
		})
		if _, err := w.Pull(ctx, ref, authn.AuthConfig{}); !errors.Is(err, context.Canceled) {
			t.Errorf("Pull = %v, want context.Canceled", err)
		}
		if w.count(t, "tmp") != 0 {
			t.Error("something is left")
		}
	})
	t.Run("STK-2 what a killed pull left goes at the next start", func(t *testing.T) {
		w := newWorld(t, nil)
		for _, sub := range []string{"tmp/layer-1/a", "layers/" + strings.Repeat("0", 32)} {
			if err := os.MkdirAll(filepath.Join(w.dir, sub), 0o755); err != nil {
				t.Fatal(err)
			}
		}
		w.reopen(t, nil)
		if w.count(t, "layers")+w.count(t, "tmp") != 0 {
			t.Error("it is still there")
		}
	})
	t.Run("STK-2 a registry that wants a password", func(t *testing.T) {
		w := newWorld(t, nil)
		ref := w.push(t, "app:v1", layerOf(t, "a", 10))
		guarded := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
			if user, password, _ := r.BasicAuth(); user != "me" || password != "open-sesame" {
				rw.Header().Set("WWW-Authenticate", `Basic realm="r"`)
				rw.WriteHeader(http.StatusUnauthorized)
				return
			}
			w.registry.ServeHTTP(rw, r)
		}))
		defer guarded.Close()
		ref = strings.Replace(ref, w.registry.Host(), "localhost:"+guarded.URL[strings.LastIndexByte(guarded.URL, ':')+1:], 1)
		_, err := w.Pull(t.Context(), ref, authn.AuthConfig{Username: "me", Password: "wrong-password"})
		if err == nil || strings.Contains(err.Error(), "wrong-password") {
			t.Errorf("Pull = %v, want an error without the password", err)
		}
		if _, err := w.Pull(t.Context(), ref, authn.AuthConfig{Username: "me", Password: "open-sesame"}); err != nil {
			t.Error(err)
		}
	})
	t.Run("STK-2 hostile layer in an image: nothing stays", func(t *testing.T) {
		w := newWorld(t, nil)
		for n, tt := range hostile[:12] {
			l, err := testimage.Layer(tt.entries...)
			if err != nil {
				t.Fatal(err)
			}
			ref := w.push(t, "bad:v"+strconv.Itoa(n), l)
			_, err = w.Pull(t.Context(), ref, authn.AuthConfig{})
			var le *image.LayerError
			if !errors.As(err, &le) || le.Layer == "" || !errors.Is(err, tt.want) {
				t.Errorf("%s: Pull = %v, want a LayerError of %v", tt.name, err, tt.want)
			}
		}
		if len(w.List()) != 0 || w.count(t, "layers")+w.count(t, "tmp") != 0 {
			t.Error("something is left")
		}
	})
}

// cut ends the connection after so many bytes of a blob that has more.
type cut struct {
	http.ResponseWriter
	left int
}

func (c *cut) Write(p []byte) (int, error) {
	if len(p) > c.left {
		_, _ = c.ResponseWriter.Write(p[:c.left])
		panic(http.ErrAbortHandler)
	}
	c.left -= len(p)
	return c.ResponseWriter.Write(p)
}

// flip changes one bit of a blob's middle.
type flip struct{ http.ResponseWriter }

func (f *flip) Write(p []byte) (int, error) {
	q := append([]byte(nil), p...)
	q[len(q)/2] ^= 1
	return f.ResponseWriter.Write(q)
}
