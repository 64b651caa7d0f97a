package pods

import (
	"context"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// worker is the one goroutine that changes anything of its pod.
type worker struct {
	m     *Manager
	uid   types.UID
	awake chan struct{}

	mu      sync.Mutex
	pod     *corev1.Pod // the latest the API server said
	removed bool        // the API server no longer has it

	admission Admission            // the worker's alone, as are those below
	rejected  bool                 // said once
	refused   string               // what was last said of changes
	problems  map[string]problem   // by container: why it does not run
	retryAt   map[string]time.Time // by container
	failures  int                  // of whole steps, in a row
}

// problem is why a container does not run.
type problem struct {
	reason, message string
}

func newWorker(m *Manager, pod *corev1.Pod) *worker {
	return &worker{
		m: m, uid: pod.UID, pod: pod, awake: make(chan struct{}, 1),
		problems: map[string]problem{}, retryAt: map[string]time.Time{},
	}
}

func (w *worker) want(pod *corev1.Pod) {
	w.mu.Lock()
	w.pod = pod
	w.mu.Unlock()
	w.wake()
}

func (w *worker) remove() {
	w.mu.Lock()
	w.removed = true
	w.mu.Unlock()
	w.wake()
}

func (w *worker) wake() {
	select {
	case w.awake <- struct{}{}:
	default:
	}
}

func (w *worker) wanted() (*corev1.Pod, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.pod, w.removed
}

// run makes steps until the pod is gone or ctx ends.
func (w *worker) run(ctx context.Context) {
	for {
		again, done := w.step(ctx)
		if done {
			return
		}
		var timer <-chan time.Time
		if again > 0 {
			timer = time.After(again)
		}
		select {
		case <-ctx.Done():
			return
		case <-w.awake:
		case <-timer:
		}
	}
}

// Waits after a step that failed: the runtime or the API server may be away.
const (
	firstRetry = 200 * time.Millisecond
	lastRetry  = 5 * time.Second
)

// step brings the pod one step nearer to what is wanted. It returns when to try
// again without being woken, 0 for never, and whether the pod is gone for good.
func (w *worker) step(ctx context.Context) (again time.Duration, done bool) {
	pod, removed := w.wanted()
	var err error
	if removed || pod.DeletionTimestamp != nil {
		done, err = w.terminate(ctx, pod, removed)
	} else {
		again, err = w.sync(ctx, pod)
	}
	if err == nil {
		w.failures = 0
		return again, done
	}
	if ctx.Err() == nil {
		w.m.Log.Warn("pod step failed", "namespace", pod.Namespace, "pod", pod.Name, "err", err)
	}
	w.failures++
	return min(lastRetry, firstRetry<<min(w.failures-1, 10)), false
}
