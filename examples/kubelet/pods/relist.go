package pods

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// relistUntil asks the runtime again and again what it has, until ctx ends, and
// wakes the workers of pods that changed.
func (m *Manager) relistUntil(ctx context.Context) {
	ticker := time.NewTicker(m.Relist)
	defer ticker.Stop()
	for {
		err := m.relist(ctx)
		m.mu.Lock()
		m.relisted = err
		m.mu.Unlock()
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

// relistTimeout is how long the runtime has to say what it has; one that hangs must not
// pass for healthy.
const relistTimeout = 20 * time.Second

func (m *Manager) relist(ctx context.Context) error {
	sandboxes, containers, err := m.listOurs(ctx)
	if err != nil {
		return err
	}
	now := map[types.UID][]string{}
	lost := map[types.UID]*corev1.Pod{}
	for _, s := range sandboxes {
		uid := uidOf(s.GetLabels())
		now[uid] = append(now[uid], s.GetId()+s.GetState().String())
		lost[uid] = remembered(s)
	}
	for _, c := range containers {
		uid := uidOf(c.GetLabels())
		now[uid] = append(now[uid], c.GetId()+c.GetState().String())
	}
	m.wake(ctx, now, lost)
	return nil
}

// listOurs returns what the runtime has of this node.
func (m *Manager) listOurs(ctx context.Context) ([]*runtimeapi.PodSandbox, []*runtimeapi.Container, error) {
	ctx, cancel := context.WithTimeout(ctx, relistTimeout)
	defer cancel()
	ours := map[string]string{LabelNode: m.Node}
	sandboxes, err := m.Runtime.ListPodSandbox(ctx, &runtimeapi.ListPodSandboxRequest{Filter: &runtimeapi.PodSandboxFilter{LabelSelector: ours}})
	if err != nil {
		return nil, nil, fmt.Errorf("listing sandboxes: %w", err)
	}
	containers, err := m.Runtime.ListContainers(ctx, &runtimeapi.ListContainersRequest{Filter: &runtimeapi.ContainerFilter{LabelSelector: ours}})
	if err != nil {
		return nil, nil, fmt.Errorf("listing containers: %w", err)
	}
	return sandboxes.GetItems(), containers.GetContainers(), nil
}

// wake wakes the workers of pods whose sandboxes or containers are not what they
// were, and starts one for each pod that the API server does not know, to remove it.
func (m *Manager) wake(ctx context.Context, now map[types.UID][]string, lost map[types.UID]*corev1.Pod) {
	m.mu.Lock()
	defer m.mu.Unlock()
	before := m.seen
	m.seen = map[types.UID]string{}
	for uid, states := range now {
		slices.Sort(states)
		m.seen[uid] = strings.Join(states, " ")
	}
	for uid, w := range m.workers {
		if before[uid] != m.seen[uid] {
			w.wake()
		}
	}
	for uid, pod := range lost {
		if m.workers[uid] == nil && pod != nil {
			w := newWorker(m, pod)
			m.workers[uid] = w
			w.remove()
			m.start(ctx, w)
		}
	}
}

// remembered returns what a sandbox says of its pod: enough to end it.
func remembered(s *runtimeapi.PodSandbox) *corev1.Pod {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		Name:      s.GetMetadata().GetName(),
		Namespace: s.GetMetadata().GetNamespace(),
		UID:       uidOf(s.GetLabels()),
	}}
	var seconds int64
	if _, err := fmt.Sscan(s.GetAnnotations()[annotationGrace], &seconds); err == nil {
		pod.Spec.TerminationGracePeriodSeconds = &seconds
	}
	return pod
}
