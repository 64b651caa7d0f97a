package webhook

import (
	"context"
	"fmt"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"github.com/lanyard-dev/lanyard/execaudit/bridge"
	"github.com/lanyard-dev/lanyard/execaudit/bridge/readiness"
)

func runningPod(namespace, name string, change ...func(*corev1.Pod)) corev1.Pod {
	at := metav1.NewTime(time.Now().Add(-time.Minute).Truncate(time.Second))
	pod := corev1.Pod{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"},
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, UID: types.UID("uid-" + name), ResourceVersion: "1"},
		Spec:       corev1.PodSpec{NodeName: "n1", Containers: []corev1.Container{{Name: "app", Image: "big", Command: []string{"sleep"}}}},
		Status: corev1.PodStatus{StartTime: &at, ContainerStatuses: []corev1.ContainerStatus{
			{Name: "app", State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: at}}},
		}},
	}
	for _, c := range change {
		c(&pod)
	}
	return pod
}

func nodeLease(namespace string, said readiness.Readiness) coordinationv1.Lease {
	renewed, seconds := metav1.NowMicro(), int32(40)
	return coordinationv1.Lease{
		TypeMeta:   metav1.TypeMeta{APIVersion: "coordination.k8s.io/v1", Kind: "Lease"},
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: readiness.LeaseName("n1"), ResourceVersion: "1", Annotations: said.Annotations()},
		Spec:       coordinationv1.LeaseSpec{RenewTime: &renewed, LeaseDurationSeconds: &seconds},
	}
}

// started returns the cluster of the API server, synchronized.
func started(t *testing.T, a *api) *cluster {
	t.Helper()
	c, err := newCluster(&rest.Config{Host: a.URL}, "lanyard-system")
	if err != nil {
		t.Fatal(err)
	}
	if err := c.run(t.Context(), t.Context()); err != nil {
		t.Fatal(err)
	}
	return c
}

func TestFind(t *testing.T) {
	said := readiness.Readiness{Keys: []string{"k"}, Handlers: map[string]readiness.Handler{"": {Since: time.Now().Add(-time.Hour), Mode: readiness.ModeBind}}}
	a := newAPI(t)
	class := "lanyard"
	a.pods = []corev1.Pod{
		runningPod("shop", "cart"),
		runningPod("quiet", "cart", func(p *corev1.Pod) { p.Spec.RuntimeClassName = &class }),
		runningPod("shop", "starting", func(p *corev1.Pod) { p.Status = corev1.PodStatus{} }),
		runningPod("shop", "gone", func(p *corev1.Pod) { p.DeletionTimestamp = p.Status.StartTime }),
		runningPod("shop", "unknown-class", func(p *corev1.Pod) { other := "other"; p.Spec.RuntimeClassName = &other }),
	}
	a.namespaces = []corev1.Namespace{
		{ObjectMeta: metav1.ObjectMeta{Name: "shop"}},
		{ObjectMeta: metav1.ObjectMeta{Name: "quiet", Labels: map[string]string{bridge.MarkAnnotation: bridge.MarkOff}}},
	}
	a.leases = []coordinationv1.Lease{nodeLease("lanyard-system", said)}
	a.classes = []nodev1.RuntimeClass{{ObjectMeta: metav1.ObjectMeta{Name: class}, Handler: "lanyard-handler"}}
	c := started(t, a)
	ctx := context.Background()

	t.Run("BRG-13 a running pod is known without asking", func(t *testing.T) {
		k := c.Find(ctx, "shop", "cart", "app")
		if k.Pod == nil || k.Pod.ID.UID != "uid-cart" || k.Pod.Node != "n1" || k.Problem != "" || k.NamespaceOptedOut || a.asked() != 0 {
			t.Fatalf("%+v after %d GETs", k, a.asked())
		}
		if k.Lease == nil || len(k.Lease.Readiness.Keys) != 1 || k.Lease.Duration != 40*time.Second {
			t.Fatalf("lease %+v", k.Lease)
		}
	})
	t.Run("BRG-14 handler and the namespace's label are known", func(t *testing.T) {
		if k := c.Find(ctx, "quiet", "cart", ""); k.Handler != "lanyard-handler" || !k.NamespaceOptedOut {
			t.Fatalf("%+v", k)
		}
	})
	t.Run("BRG-13 a runtime class that is not known is a problem", func(t *testing.T) {
		if k := c.Find(ctx, "shop", "unknown-class", ""); k.Problem == "" {
			t.Fatalf("%+v", k)
		}
	})
	t.Run("BRG-13 a pod that is not there", func(t *testing.T) {
		if k := c.Find(ctx, "shop", "nobody", ""); k.Pod != nil || k.Problem != "" {
			t.Fatalf("%+v", k)
		}
	})
	fresh := runningPod("shop", "fresh")
	begun := runningPod("shop", "starting")
	again := runningPod("shop", "gone", func(p *corev1.Pod) { p.UID = "another" })
	a.mu.Lock()
	a.live["shop/fresh"], a.live["shop/starting"], a.live["shop/gone"] = &fresh, &begun, &again
	a.mu.Unlock()
	t.Run("BRG-13 the informer is behind: the API server is asked", func(t *testing.T) {
		if k := c.Find(ctx, "shop", "fresh", "app"); k.Pod == nil || k.Pod.ID.UID != "uid-fresh" {
			t.Fatalf("a new pod: %+v", k)
		}
		if k := c.Find(ctx, "shop", "starting", "app"); k.Pod == nil || k.Pod.Started.IsZero() {
			t.Fatalf("a pod that runs since: %+v", k)
		}
		if k := c.Find(ctx, "shop", "gone", "app"); k.Pod == nil || k.Pod.ID.UID != "another" {
			t.Fatalf("a pod of the same name: %+v", k)
		}
	})
	t.Run("BRG-6 the API server does not answer", func(t *testing.T) {
		a.mu.Lock()
		a.broken = true
		a.mu.Unlock()
		defer func() { a.mu.Lock(); a.broken = false; a.mu.Unlock() }()
		if k := c.Find(ctx, "shop", "fresh", "app"); k.Pod != nil || k.Problem != "the pod could not be looked up" {
			t.Fatalf("%+v", k)
		}
		if k := c.Find(ctx, "shop", "starting", "app"); k.Pod == nil || k.Problem != "" {
			t.Fatalf("a pod that the informer knows: %+v", k)
		}
		ended, cancel := context.WithCancel(ctx)
		cancel()
		if k := c.Find(ended, "shop", "fresh", "app"); k.Problem == "" {
			t.Fatalf("no time left: %+v", k)
		}
	})
	t.Run("BRG-13 a watch's events are seen", func(t *testing.T) {
		events := map[string]chan<- metav1.WatchEvent{}
		for len(events) < 4 {
			w := <-a.watching
			events[w.resource] = w.events
		}
		said.Keys = []string{"k", "new"}
		lease := nodeLease("lanyard-system", said)
		lease.ResourceVersion = "2"
		events["leases"] <- watchEvent(t, "MODIFIED", &lease)
		pod := runningPod("shop", "watched")
		pod.ResourceVersion = "2"
		events["pods"] <- watchEvent(t, "ADDED", &pod)
		eventually(t, "the new pod is known", func() bool {
			_, ok := get[*storedPod](c.pods, "shop/watched")
			return ok
		})
		before := a.asked()
		eventually(t, "the new key is known", func() bool {
			return len(c.Find(ctx, "shop", "watched", "app").Lease.Readiness.Keys) == 2
		})
		if got := a.asked() - before; got != 0 {
			t.Fatalf("%d GETs", got)
		}
	})
}

func TestStore(t *testing.T) {
	t.Run("BRG-13 an unreadable lease says nothing", func(t *testing.T) {
		lease := nodeLease("lanyard-system", readiness.Readiness{})
		lease.Annotations[readiness.AnnotationHandlers] = "{"
		stored, err := storeLease(&lease)
		if err != nil || stored.(*storedLease).lease != nil || stored.(*storedLease).Name != lease.Name {
			t.Fatalf("%+v, %v", stored, err)
		}
		lease.Annotations = nil
		lease.Spec.RenewTime = nil
		if stored, err := storeLease(&lease); err != nil || stored.(*storedLease).lease != nil {
			t.Fatalf("%+v, %v", stored, err)
		}
	})
	t.Run("what is no object of the kind passes", func(t *testing.T) {
		for _, store := range []cache.TransformFunc{storePod, storeLease, storeNamespace} {
			if got, err := store(cache.DeletedFinalStateUnknown{Key: "x"}); err != nil || got.(cache.DeletedFinalStateUnknown).Key != "x" {
				t.Fatalf("%v, %v", got, err)
			}
		}
	})
}

func BenchmarkStore(b *testing.B) {
	pod := runningPod("shop", "cart")
	b.ReportAllocs()
	for b.Loop() {
		if _, err := storePod(&pod); err != nil {
			b.Fatal(err)
		}
	}
}

func ExampleCommand() {
	c := Command()
	c.SetArgs([]string{"--tls-cert-file", "c", "--tls-private-key-file", "k", "--key-file", "key", "--records-file", "-"})
	c.SilenceErrors, c.SilenceUsage = true, true
	fmt.Println(c.Execute())
	// Output:
	// who may call the webhook? give --client-ca-file, for an API server with a client certificate, or --path-secret-file: without, any pod that reaches it could have tokens made
}
