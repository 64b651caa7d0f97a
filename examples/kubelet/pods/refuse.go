package pods

import (
	"encoding/json"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/lanyard-dev/lanyard/examples/kubelet/fields"
)

// admit asks whether the node takes the pod. A pod that has a sandbox was taken: ephemeral containers that came since
// are refused one by one, because a pod can never lose them again.
func (w *worker) admit(pod *corev1.Pod, f found) Admission {
	if len(f.sandboxes) > 0 && len(pod.Spec.EphemeralContainers) > 0 {
		pod = pod.DeepCopy()
		pod.Spec.EphemeralContainers = nil
	}
	return w.m.Admit.Admit(pod)
}

// refuseChanges says in an event what came to a pod that runs and is not done, once for each text.
func (w *worker) refuseChanges(pod *corev1.Pod, f found) {
	said := fields.Message(changes(pod, f))
	if w.admission.Rejected && w.admission.Reason == fields.Reason {
		said = strings.TrimSuffix(w.admission.Message+"; "+said, "; ")
	}
	if said == w.refused {
		return
	}
	if w.refused = said; said != "" {
		w.m.Events.Event(pod, corev1.EventTypeWarning, fields.Reason, said)
	}
}

// changes returns what a pod asks for now and did not when its containers were made.
func changes(pod *corev1.Pod, f found) []fields.Refusal {
	var out []fields.Refusal
	compare := func(list string, containers []corev1.Container) {
		for i := range containers {
			at := fmt.Sprintf("spec.%s[%d]", list, i)
			if made := f.latest(containers[i].Name); made.GetState() == runtimeapi.ContainerState_CONTAINER_RUNNING {
				out = append(out, changed(at, &containers[i], made)...)
			}
		}
	}
	compare("initContainers", pod.Spec.InitContainers)
	compare("containers", pod.Spec.Containers)
	for i := range pod.Spec.EphemeralContainers {
		out = append(out, fields.Refusal{Path: fmt.Sprintf("spec.ephemeralContainers[%d]", i), Why: whyNoEphemeral})
	}
	return out
}

const (
	whyNoEphemeral = "ephemeral containers are not run"
	whyNoChange    = "a container that runs keeps it until it is made anew"
)

// changed compares a container that runs with its spec, in what the API lets a pod change.
func changed(at string, c *corev1.Container, made *runtimeapi.Container) []fields.Refusal {
	var out []fields.Refusal
	if image := made.GetImage().GetUserSpecifiedImage(); image != "" && image != c.Image {
		out = append(out, fields.Refusal{Path: at + ".image", Why: whyNoChange})
	}
	var resources corev1.ResourceRequirements
	text, there := made.GetAnnotations()[annotationResources]
	if there && json.Unmarshal([]byte(text), &resources) == nil && !equality.Semantic.DeepEqual(resources, c.Resources) {
		out = append(out, fields.Refusal{Path: at + ".resources", Why: whyNoChange})
	}
	return out
}

// ephemeralStatuses say of every ephemeral container that it waits, and for what.
func ephemeralStatuses(pod *corev1.Pod) []corev1.ContainerStatus {
	var out []corev1.ContainerStatus
	for i, c := range pod.Spec.EphemeralContainers {
		refusal := fields.Refusal{Path: fmt.Sprintf("spec.ephemeralContainers[%d]", i), Why: whyNoEphemeral}
		out = append(out, corev1.ContainerStatus{Name: c.Name, Image: c.Image, State: corev1.ContainerState{
			Waiting: &corev1.ContainerStateWaiting{Reason: fields.Reason, Message: refusal.String()},
		}})
	}
	return out
}
