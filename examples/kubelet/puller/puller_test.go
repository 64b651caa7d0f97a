package puller_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"google.golang.org/grpc"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/record"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/lanyard-dev/lanyard/credprovider"
	"github.com/lanyard-dev/lanyard/credprovider/provider"
	"github.com/lanyard-dev/lanyard/credprovider/pulled"
	"github.com/lanyard-dev/lanyard/examples/kubelet/pods"
	"github.com/lanyard-dev/lanyard/examples/kubelet/puller"
)

const (
	image = "registry.example.io/team/app:v1"
	id    = "sha256:0123"
)

var errRefused = errors.New("refused")

// runtime is an image service whose registry lets one user in; "" is anybody.
type runtime struct {
	runtimeapi.ImageServiceClient
	lets  string
	has   bool
	tried []string
}

func (r *runtime) ImageStatus(context.Context, *runtimeapi.ImageStatusRequest, ...grpc.CallOption) (*runtimeapi.ImageStatusResponse, error) {
	if !r.has {
		return &runtimeapi.ImageStatusResponse{}, nil
	}
	return &runtimeapi.ImageStatusResponse{Image: &runtimeapi.Image{Id: id}}, nil
}

func (r *runtime) ListImages(context.Context, *runtimeapi.ListImagesRequest, ...grpc.CallOption) (*runtimeapi.ListImagesResponse, error) {
	return &runtimeapi.ListImagesResponse{Images: []*runtimeapi.Image{{Id: id, RepoTags: []string{image}}}}, nil
}

func (r *runtime) PullImage(_ context.Context, q *runtimeapi.PullImageRequest, _ ...grpc.CallOption) (*runtimeapi.PullImageResponse, error) {
	r.tried = append(r.tried, q.GetAuth().GetUsername())
	if r.lets != q.GetAuth().GetUsername() {
		return nil, fmt.Errorf("%w: %q", errRefused, q.GetAuth().GetUsername())
	}
	r.has = true
	return &runtimeapi.PullImageResponse{ImageRef: id}, nil
}

// plugin answers with one login, or fails.
type plugin struct {
	user string
	err  error
}

func (p plugin) Run(_ context.Context, q credprovider.Request) (credprovider.Response, error) {
	return credprovider.Response{
		APIVersion: q.APIVersion, CacheKeyType: credprovider.KeyImage,
		Auth: map[string]credprovider.AuthConfig{"registry.example.io": {Username: p.user}},
	}, p.err
}

func pool(t *testing.T, plugins ...provider.Runner) *provider.Pool {
	t.Helper()
	config := credprovider.Config{Kind: credprovider.ConfigKind, APIVersion: credprovider.ConfigV1}
	for i := range plugins {
		config.Providers = append(config.Providers, credprovider.Provider{
			Name: fmt.Sprintf("p%d", i), MatchImages: []string{"registry.example.io"}, APIVersion: credprovider.V1,
			DefaultCacheDuration: credprovider.NewDuration(0),
		})
	}
	made, err := provider.New(config, plugins, provider.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return made
}

func records(t *testing.T, dir string) *pulled.Store {
	t.Helper()
	store, err := pulled.Open(dir, pulled.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return store
}

func ensure(t *testing.T, o puller.Options, policy corev1.PullPolicy) (string, error) {
	t.Helper()
	return puller.New(o).Ensure(t.Context(), &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: "app"}},
		&corev1.Container{Name: "c", Image: image, ImagePullPolicy: policy})
}

func TestPull(t *testing.T) {
	t.Run("CRP-17 credentials are tried in their order until one is let in", func(t *testing.T) {
		r := &runtime{lets: "b"}
		ref, err := ensure(t, puller.Options{Images: r, Pool: pool(t, plugin{user: "a"}, plugin{user: "b"}, plugin{user: "c"})}, corev1.PullAlways)
		if ref != id || err != nil || !slices.Equal(r.tried, []string{"a", "b"}) {
			t.Errorf("Ensure = %q, %v after %q", ref, err, r.tried)
		}
	})
	t.Run("CRP-7 a provider that fails is an event, and the others' credentials pull", func(t *testing.T) {
		r, events := &runtime{lets: "b"}, record.NewFakeRecorder(1)
		failing := plugin{err: errors.New("no such tenant")}
		if _, err := ensure(t, puller.Options{Images: r, Events: events, Pool: pool(t, failing, plugin{user: "b"})}, corev1.PullAlways); err != nil {
			t.Fatal(err)
		}
		if said := <-events.Events; !strings.Contains(said, puller.EventReason) || !strings.Contains(said, "no such tenant") {
			t.Errorf("event %q", said)
		}
	})
	t.Run("CRP-7 when all are refused each refusal is in the error, and nothing anonymous is tried", func(t *testing.T) {
		r := &runtime{lets: "c"}
		_, err := ensure(t, puller.Options{Images: r, Pool: pool(t, plugin{user: "a"}, plugin{user: "b"})}, corev1.PullAlways)
		if !errors.Is(err, errRefused) || !strings.Contains(err.Error(), "p0") || !strings.Contains(err.Error(), "p1") || !slices.Equal(r.tried, []string{"a", "b"}) {
			t.Errorf("Ensure = %v after %q", err, r.tried)
		}
	})
	t.Run("CRP-7 without credentials the pull is anonymous", func(t *testing.T) {
		r := &runtime{}
		if ref, err := ensure(t, puller.Options{Images: r}, corev1.PullIfNotPresent); ref != id || err != nil || !slices.Equal(r.tried, []string{""}) {
			t.Errorf("Ensure = %q, %v after %q", ref, err, r.tried)
		}
	})
	t.Run("Never and not there", func(t *testing.T) {
		if _, err := ensure(t, puller.Options{Images: &runtime{}}, corev1.PullNever); !errors.Is(err, pods.ErrImageNeverPull) {
			t.Errorf("Ensure = %v", err)
		}
	})
}

func TestRecords(t *testing.T) {
	t.Run("CRP-20 a failed pull leaves no intent and no record", func(t *testing.T) {
		store := records(t, t.TempDir())
		if _, err := ensure(t, puller.Options{Images: &runtime{lets: "x"}, Records: store}, corev1.PullAlways); err == nil {
			t.Fatal("Ensure = nil error")
		}
		if left, err := store.Recover(func(string) string { return id }); len(left) != 0 || err != nil {
			t.Errorf("Recover = %q, %v, want nothing left", left, err)
		}
	})
	t.Run("CRP-20 an intent that a crash left makes the image nobody's, and Never does not pull it", func(t *testing.T) {
		dir := t.TempDir()
		if err := records(t, dir).Begin(image); err != nil {
			t.Fatal(err)
		}
		o := puller.Options{Images: &runtime{has: true}, Records: records(t, dir)}
		if err := puller.New(o).Recover(t.Context()); err != nil {
			t.Fatal(err)
		}
		if _, err := ensure(t, o, corev1.PullNever); !errors.Is(err, pods.ErrImageNeverPull) {
			t.Errorf("Ensure = %v, want ErrImageNeverPull", err)
		}
		if ref, err := ensure(t, o, corev1.PullIfNotPresent); ref != id || err != nil {
			t.Errorf("Ensure = %q, %v, want a pull", ref, err)
		}
		if ref, err := ensure(t, o, corev1.PullNever); ref != id || err != nil {
			t.Errorf("Ensure after an anonymous pull = %q, %v, want anybody to use it", ref, err)
		}
	})
}
