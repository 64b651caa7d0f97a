package apiserver_test

import (
	"slices"
	"syscall"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/retry"

	"github.com/lanyard-dev/lanyard/examples/apiserver"
	"github.com/lanyard-dev/lanyard/examples/apiserver/memory"
)

func TestClientGo(t *testing.T) {
	c := start(t, nil)
	client := c.client(t, c.admin())
	pods := client.CoreV1().Pods("default")
	ctx := t.Context()
	t.Run("STK-5 typed client: conflict, retry, status, binding", func(t *testing.T) {
		created := must(pods.Create(ctx, pod("p", "", "c"), metav1.CreateOptions{}))(t)
		created.Labels = map[string]string{"a": "b"}
		updated := must(pods.Update(ctx, created, metav1.UpdateOptions{}))(t)
		if _, err := pods.Update(ctx, created, metav1.UpdateOptions{}); !apierrors.IsConflict(err) {
			t.Errorf("update of an old version = %v, want Conflict", err)
		}
		binding := &corev1.Binding{ObjectMeta: metav1.ObjectMeta{Name: "p"}, Target: corev1.ObjectReference{Kind: "Node", Name: "n1"}}
		if err := pods.Bind(ctx, binding, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		if err := pods.Bind(ctx, binding, metav1.CreateOptions{}); !apierrors.IsConflict(err) {
			t.Errorf("second binding = %v, want Conflict", err)
		}
		err := retry.RetryOnConflict(retry.DefaultRetry, func() error {
			p := must(pods.Get(ctx, "p", metav1.GetOptions{}))(t)
			p.Status.Phase, p.Spec.NodeName = corev1.PodRunning, "elsewhere"
			_, err := pods.UpdateStatus(ctx, p, metav1.UpdateOptions{})
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		p := must(pods.Get(ctx, "p", metav1.GetOptions{}))(t)
		if p.Status.Phase != corev1.PodRunning || p.Spec.NodeName != "n1" || p.ResourceVersion == updated.ResourceVersion {
			t.Errorf("pod = %s on %s", p.Status.Phase, p.Spec.NodeName)
		}
	})
	t.Run("STK-5 a pod on a node is deleted with grace, then for good", func(t *testing.T) {
		if err := pods.Delete(ctx, "p", metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
		p := must(pods.Get(ctx, "p", metav1.GetOptions{}))(t)
		if p.DeletionTimestamp == nil || *p.DeletionGracePeriodSeconds != 30 {
			t.Errorf("deletion = %v after %v", p.DeletionTimestamp, p.DeletionGracePeriodSeconds)
		}
		now := int64(0)
		if err := pods.Delete(ctx, "p", metav1.DeleteOptions{GracePeriodSeconds: &now}); err != nil {
			t.Fatal(err)
		}
		if _, err := pods.Get(ctx, "p", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
			t.Errorf("get = %v, want NotFound", err)
		}
	})
	t.Run("STK-5 a spec cannot change, an object cannot go into no namespace", func(t *testing.T) {
		one := must(pods.Get(ctx, "one", metav1.GetOptions{}))(t)
		one.Spec.HostNetwork = true
		if _, err := pods.Update(ctx, one, metav1.UpdateOptions{}); !apierrors.IsInvalid(err) {
			t.Errorf("update = %v, want Invalid", err)
		}
		nowhere := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "x"}}
		if _, err := client.CoreV1().ConfigMaps("nowhere").Create(ctx, nowhere, metav1.CreateOptions{}); !apierrors.IsNotFound(err) {
			t.Errorf("create = %v, want NotFound", err)
		}
	})
	t.Run("STK-5 informers see what their selector matches come and go", func(t *testing.T) { informs(t, c) })
}

// informs follows the pods of node n1 while a pod is bound to it and deleted.
func informs(t *testing.T, c *cluster) {
	client := c.client(t, c.admin())
	factory := informers.NewSharedInformerFactoryWithOptions(client, 0, informers.WithTweakListOptions(func(o *metav1.ListOptions) {
		o.FieldSelector = fields.OneTermEqualSelector("spec.nodeName", "n1").String()
	}))
	informer := factory.Core().V1().Pods().Informer()
	events := make(chan string, 16)
	_, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(o any) { events <- "add " + o.(*corev1.Pod).Name },
		DeleteFunc: func(o any) { events <- "delete " + name(o) },
	})
	if err != nil {
		t.Fatal(err)
	}
	factory.Start(t.Context().Done())
	if !cache.WaitForCacheSync(t.Context().Done(), informer.HasSynced) {
		t.Fatal("no sync")
	}
	expect := func(want string) {
		t.Helper()
		select {
		case got := <-events:
			if got != want {
				t.Fatalf("event %q, want %q", got, want)
			}
		case <-time.After(10 * time.Second):
			t.Fatalf("no event %q", want)
		}
	}
	initial := []string{<-events, <-events} // HasSynced promised them
	slices.Sort(initial)
	if !slices.Equal(initial, []string{"add one", "add web"}) {
		t.Fatalf("initial events = %q", initial)
	}
	pods := client.CoreV1().Pods("default")
	must(pods.Create(t.Context(), pod("late", "", "c"), metav1.CreateOptions{}))(t)
	binding := &corev1.Binding{ObjectMeta: metav1.ObjectMeta{Name: "late"}, Target: corev1.ObjectReference{Kind: "Node", Name: "n1"}}
	if err := pods.Bind(t.Context(), binding, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	expect("add late")
	now := int64(0)
	if err := pods.Delete(t.Context(), "late", metav1.DeleteOptions{GracePeriodSeconds: &now}); err != nil {
		t.Fatal(err)
	}
	expect("delete late")
}

func name(o any) string {
	if last, ok := o.(cache.DeletedFinalStateUnknown); ok {
		o = last.Obj
	}
	return o.(*corev1.Pod).Name
}

// TestRestart keeps the objects and stops the server, as when an API server restarts before its etcd.
func TestRestart(t *testing.T) {
	backend := memory.New(memory.Options{})
	with := func(o *apiserver.Options) { o.Backend = backend }
	first := start(t, with)
	before := must(first.client(t, first.admin()).CoreV1().Pods("default").Get(t.Context(), "one", metav1.GetOptions{}))(t)
	first.shutdown(t)
	second := start(t, with)
	t.Run("STK-4 objects outlive a server whose backend is kept", func(t *testing.T) {
		after := must(second.client(t, second.admin()).CoreV1().Pods("default").Get(t.Context(), "one", metav1.GetOptions{}))(t)
		if after.UID != before.UID {
			t.Errorf("UID = %s, want %s", after.UID, before.UID)
		}
	})
	t.Run("STK-5 an informer of a server that lost everything lists anew", func(t *testing.T) {
		old := must(second.client(t, second.admin()).CoreV1().Pods("default").List(t.Context(), metav1.ListOptions{}))(t)
		third := start(t, nil)
		_, err := third.client(t, third.admin()).CoreV1().Pods("default").Watch(t.Context(), metav1.ListOptions{ResourceVersion: old.ResourceVersion})
		if !apierrors.IsResourceExpired(err) && !apierrors.IsGone(err) {
			t.Errorf("watch from a former life = %v, want 410", err)
		}
	})
}

// TestStart counts processor time: how long a start takes otherwise is the machine's affair.
func TestStart(t *testing.T) {
	begin := processorTime(t)
	start(t, nil)
	t.Run("STK-4 a start takes less than two seconds of processor time", func(t *testing.T) {
		if took := processorTime(t) - begin; took > 2*time.Second {
			t.Errorf("it took %v", took)
		}
	})
}

// processorTime is what this process has used up to now.
func processorTime(t *testing.T) time.Duration {
	t.Helper()
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		t.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
