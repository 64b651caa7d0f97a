package kubelet

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/lanyard-dev/lanyard/examples/kubelet/fields"
	"github.com/lanyard-dev/lanyard/examples/kubelet/pods"
	"github.com/lanyard-dev/lanyard/supgroups/admission"
)

// admitter takes or refuses pods: by the matrix of KEP-3619, by the table of what the kubelet does, and by the
// RuntimeClasses that there are.
type admitter struct {
	kubelet admission.Component
	feature func() *bool
	classes map[string]string
}

// unknownClass is the reason of a pod whose RuntimeClass there is not.
const unknownClass = "RuntimeClassNotFound"

// Admit decides about one pod with what the runtime last said it can.
func (a admitter) Admit(pod *corev1.Pod) pods.Admission {
	var policy *corev1.SupplementalGroupsPolicy
	if sc := pod.Spec.SecurityContext; sc != nil {
		policy = sc.SupplementalGroupsPolicy
	}
	d := admission.Admit(a.kubelet, a.feature(), policy)
	out := pods.Admission{Rejected: d.Rejected, Reason: d.Reason, Message: d.Message, UserReported: d.UserReported}
	if refused := fields.Check(pod); !out.Rejected && len(refused) > 0 {
		out.Rejected, out.Reason, out.Message = true, fields.Reason, fields.Message(refused)
	}
	if class := pod.Spec.RuntimeClassName; !out.Rejected && class != nil {
		if _, found := a.classes[*class]; !found {
			out.Rejected, out.Reason, out.Message = true, unknownClass, fmt.Sprintf("there is no RuntimeClass %q", *class)
		}
	}
	return out
}
