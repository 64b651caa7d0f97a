package webhook

import (
	"context"
	"fmt"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	coordinationclient "k8s.io/client-go/kubernetes/typed/coordination/v1"
	coreclient "k8s.io/client-go/kubernetes/typed/core/v1"
	nodeclient "k8s.io/client-go/kubernetes/typed/node/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"github.com/lanyard-dev/lanyard/execaudit/bridge/admission"
	"github.com/lanyard-dev/lanyard/execaudit/bridge/readiness"
)

// What the API server's clients may ask in a second: live looks at pods that the informer does not know yet.
const (
	liveQPS   = 200
	liveBurst = 400
)

// cluster is what is known of the cluster.
type cluster struct {
	core coreclient.CoreV1Interface
	// leases is where the nodes' daemons write.
	leaseNamespace string

	pods, leases, namespaces, classes cache.Store
	controllers                       []cache.Controller
}

// newCluster makes the informers, which run begins.
func newCluster(config *rest.Config, leaseNamespace string) (*cluster, error) {
	config = rest.CopyConfig(config)
	config.QPS, config.Burst = liveQPS, liveBurst
	config.UserAgent = "lanyard-bridge-webhook"
	core, err := coreclient.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	coordination, err := coordinationclient.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	node, err := nodeclient.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	c := &cluster{core: core, leaseNamespace: leaseNamespace}
	c.pods = c.inform(core.RESTClient(), "pods", "", &corev1.Pod{}, storePod)
	c.namespaces = c.inform(core.RESTClient(), "namespaces", "", &corev1.Namespace{}, storeNamespace)
	c.leases = c.inform(coordination.RESTClient(), "leases", leaseNamespace, &coordinationv1.Lease{}, storeLease)
	c.classes = c.inform(node.RESTClient(), "runtimeclasses", "", &nodev1.RuntimeClass{}, nil)
	return c, nil
}

func (c *cluster) inform(client rest.Interface, resource, namespace string, kind runtime.Object, transform cache.TransformFunc) cache.Store {
	store, controller := cache.NewInformerWithOptions(cache.InformerOptions{
		ListerWatcher: cache.NewListWatchFromClient(client, resource, namespace, fields.Everything()),
		ObjectType:    kind,
		Handler:       cache.ResourceEventHandlerFuncs{},
		Transform:     transform,
	})
	c.controllers = append(c.controllers, controller)
	return store
}

// run keeps the informers running until work ends, and returns when they are synchronized for the first time, or with
// an error when ctx ends before.
func (c *cluster) run(ctx, work context.Context) error {
	var synced []cache.InformerSynced
	for _, controller := range c.controllers {
		go controller.RunWithContext(work)
		synced = append(synced, controller.HasSynced)
	}
	if !cache.WaitForCacheSync(ctx.Done(), synced...) {
		return fmt.Errorf("the cluster could not be read: %w", context.Cause(ctx))
	}
	return nil
}

// Find implements admission.Lookup. It asks the API server itself only where the informer does not know the pod, or
// knows it in a state in which nothing can be executed: then it is older than what the caller saw.
func (c *cluster) Find(ctx context.Context, namespace, name, container string) admission.Known {
	var k admission.Known
	stored, _ := get[*storedPod](c.pods, namespace+"/"+name)
	if stored != nil {
		k.Pod = stored.pod
	}
	if stored == nil || stored.DeletionTimestamp != nil || !runs(stored.pod, container) {
		pod, err := c.core.Pods(namespace).Get(ctx, name, metav1.GetOptions{})
		switch {
		case err == nil:
			k.Pod = admission.PodOf(pod)
		case apierrors.IsNotFound(err):
			return admission.Known{}
		case k.Pod == nil:
			return admission.Known{Problem: "the pod could not be looked up"}
		}
	}
	if namespace, ok := get[*storedNamespace](c.namespaces, namespace); ok {
		k.NamespaceOptedOut = namespace.optedOut
	}
	if k.Pod.RuntimeClass != "" {
		class, ok := get[*nodev1.RuntimeClass](c.classes, k.Pod.RuntimeClass)
		if !ok {
			k.Problem = "the pod's runtime class is not known"
			return k
		}
		k.Handler = class.Handler
	}
	if lease, ok := get[*storedLease](c.leases, c.leaseNamespace+"/"+readiness.LeaseName(k.Pod.Node)); ok {
		k.Lease = lease.lease
	}
	return k
}

// runs reports whether the container that the API server will take runs, as far as is known.
func runs(pod *admission.Pod, name string) bool {
	container, ok := pod.Container(name)
	return ok && pod.Node != "" && !pod.Started.IsZero() && container.Started.After(time.Time{})
}

func get[T any](store cache.Store, key string) (T, bool) {
	object, ok, err := store.GetByKey(key)
	if err != nil || !ok {
		var none T
		return none, false
	}
	value, ok := object.(T)
	return value, ok
}
