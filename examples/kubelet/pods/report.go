package pods

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// reject says that the node does not take the pod, once: the pod may come by again
// before the API server's word of its end does. A pod that ran is stopped first.
func (w *worker) reject(ctx context.Context, pod *corev1.Pod) error {
	if w.rejected {
		return nil
	}
	status, err := w.lastStatus(ctx, pod)
	if err != nil {
		return err
	}
	status.Phase = corev1.PodFailed
	status.Reason = w.admission.Reason
	status.Message = w.admission.Message
	if err := w.write(ctx, pod, status); err != nil {
		return err
	}
	w.rejected = true
	if w.m.Recorder != nil {
		w.m.Recorder.Rejected(w.admission.Reason)
	}
	w.m.Events.Event(pod, corev1.EventTypeWarning, w.admission.Reason, w.admission.Message)
	return nil
}

// lastStatus stops what runs of the pod and returns how it ended; of a pod that
// never ran, there is no word of containers.
func (w *worker) lastStatus(ctx context.Context, pod *corev1.Pod) (*corev1.PodStatus, error) {
	if err := w.stop(ctx, pod); err != nil {
		return nil, err
	}
	f, err := w.m.find(ctx, pod.UID)
	if err != nil || len(f.containers) == 0 {
		return pod.Status.DeepCopy(), err
	}
	return w.status(ctx, pod, f)
}

// report writes the pod's status if it is not what the API server has.
func (w *worker) report(ctx context.Context, pod *corev1.Pod) error {
	f, err := w.m.find(ctx, pod.UID)
	if err != nil {
		return err
	}
	status, err := w.status(ctx, pod, f)
	if err != nil {
		return err
	}
	if equality.Semantic.DeepEqual(*status, pod.Status) {
		return nil
	}
	return w.write(ctx, pod, status)
}

// write stores the status on the pod as the API server has it now: another writer
// may have changed the rest of it.
func (w *worker) write(ctx context.Context, pod *corev1.Pod, status *corev1.PodStatus) error {
	api := w.m.Client.CoreV1().Pods(pod.Namespace)
	changed := pod.DeepCopy()
	changed.Status = *status
	_, err := api.UpdateStatus(ctx, changed, metav1.UpdateOptions{})
	if !apierrors.IsConflict(err) {
		return err
	}
	if changed, err = api.Get(ctx, pod.Name, metav1.GetOptions{}); err != nil {
		return err
	}
	if changed.UID != pod.UID {
		return nil
	}
	changed.Status = *status
	_, err = api.UpdateStatus(ctx, changed, metav1.UpdateOptions{})
	return err
}
