package pods

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/record"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// loopback is the address of every pod and node: the stack never leaves the machine.
const loopback = "127.0.0.1"

// Options is what a Manager works with. Every field but the last five is needed.
type Options struct {
	Node    string
	Root    string // directory of logs and volumes
	Client  kubernetes.Interface
	Runtime runtimeapi.RuntimeServiceClient
	Images  runtimeapi.ImageServiceClient
	Puller  Puller
	Admit   Admitter
	Events  record.EventRecorder
	// Classes are the runtime handlers by RuntimeClass; nil means there are none.
	Classes map[string]string
	// Recorder is told of rejections; nil means nobody is.
	Recorder Recorder
	// Log takes what went wrong; nil drops it.
	Log *slog.Logger
	// Relist is how often the runtime is asked what changed; 0 means half a second.
	Relist time.Duration
	// Backoff is how long a container that ends at once waits before its second
	// restart, doubling up to MaxBackoff; 0 means ten seconds.
	Backoff time.Duration
}

// MaxBackoff is the longest wait between two restarts.
const MaxBackoff = 5 * time.Minute

// Handler returns the pod's runtime handler: that of its RuntimeClass, "" without one.
func (o Options) Handler(pod *corev1.Pod) string {
	if class := pod.Spec.RuntimeClassName; class != nil {
		return o.Classes[*class]
	}
	return ""
}

// Admission is the kubelet's word on a pod.
type Admission struct {
	Rejected        bool
	Reason, Message string
	UserReported    bool // containerStatuses[].user is filled in
}

// Admitter decides whether the node takes a pod.
type Admitter interface {
	Admit(pod *corev1.Pod) Admission
}

// Recorder is told of what operators count.
type Recorder interface {
	// Rejected counts a pod that the kubelet did not take.
	Rejected(reason string)
}

// Manager runs the pods of a node. Make one with New, then call Run once.
type Manager struct {
	Options
	informer cache.SharedIndexInformer

	mu       sync.Mutex
	workers  map[types.UID]*worker
	seen     map[types.UID]string // what the last relist saw, for each pod
	relisted error
	wait     sync.WaitGroup
}

// New returns a manager that has not started.
func New(o Options) *Manager {
	if o.Relist == 0 {
		o.Relist = 500 * time.Millisecond
	}
	if o.Backoff == 0 {
		o.Backoff = 10 * time.Second
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	listWatch := cache.NewListWatchFromClient(o.Client.CoreV1().RESTClient(), "pods", corev1.NamespaceAll,
		fields.OneTermEqualSelector("spec.nodeName", o.Node))
	return &Manager{
		Options:  o,
		informer: cache.NewSharedIndexInformer(patient(listWatch), &corev1.Pod{}, 0, cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc}),
		workers:  map[types.UID]*worker{},
		seen:     map[types.UID]string{},
	}
}

// Run works until ctx ends, and returns when every worker has stopped. Containers
// stay as they are: the next kubelet finds them.
func (m *Manager) Run(ctx context.Context) error {
	registration, err := m.informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: func(obj any) { m.want(ctx, obj.(*corev1.Pod)) },
		UpdateFunc: func(before, now any) {
			// A pod that was deleted and made again between two looks is an update of its name.
			if old := before.(*corev1.Pod); old.UID != now.(*corev1.Pod).UID {
				m.gone(old)
			}
			m.want(ctx, now.(*corev1.Pod))
		},
		DeleteFunc: m.gone,
	})
	if err != nil {
		return err
	}
	m.wait.Go(func() { m.informer.RunWithContext(ctx) })
	defer m.wait.Wait()
	if !cache.WaitForCacheSync(ctx.Done(), registration.HasSynced) {
		return ctx.Err()
	}
	m.relistUntil(ctx)
	return nil
}

// want hands the pod's latest spec to its worker.
func (m *Manager) want(ctx context.Context, pod *corev1.Pod) {
	m.mu.Lock()
	defer m.mu.Unlock()
	w := m.workers[pod.UID]
	if w == nil {
		w = newWorker(m, pod)
		m.workers[pod.UID] = w
		m.start(ctx, w)
	}
	w.want(pod)
}

// start runs the worker; the caller holds the lock.
func (m *Manager) start(ctx context.Context, w *worker) {
	m.wait.Go(func() {
		w.run(ctx)
		m.Puller.Forget(w.uid)
		m.mu.Lock()
		defer m.mu.Unlock()
		if m.workers[w.uid] == w {
			delete(m.workers, w.uid)
		}
	})
}

// gone tells the worker of a pod, which may come as the last that was known of it.
func (m *Manager) gone(obj any) {
	if last, ok := obj.(cache.DeletedFinalStateUnknown); ok {
		obj = last.Obj
	}
	pod, ok := obj.(*corev1.Pod)
	if !ok {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if w := m.workers[pod.UID]; w != nil {
		w.remove()
	}
}

// Pods returns the pods that the API server binds to the node, in no order.
func (m *Manager) Pods() []*corev1.Pod {
	var out []*corev1.Pod
	for _, obj := range m.informer.GetStore().List() {
		out = append(out, obj.(*corev1.Pod))
	}
	return out
}

// Pod returns the pod of that name, and false if the node has none.
func (m *Manager) Pod(namespace, name string) (*corev1.Pod, bool) {
	obj, found, err := m.informer.GetStore().GetByKey(namespace + "/" + name)
	if err != nil || !found {
		return nil, false
	}
	return obj.(*corev1.Pod), true
}

// Synced reports whether the manager has seen the API server's pods and the
// runtime's containers, the latter lately.
func (m *Manager) Synced() error {
	if !m.informer.HasSynced() {
		return errors.New("pods have not been listed from the API server yet")
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.relisted
}
