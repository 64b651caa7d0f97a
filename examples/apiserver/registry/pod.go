package registry

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/lanyard-dev/lanyard/supgroups/admission"
)

// pods are stored without the fields of KEP-3619 while its gate is off.
func pods(groups admission.Component) resource[*corev1.Pod] {
	return resource[*corev1.Pod]{
		version: corev1.SchemeGroupVersion, plural: "pods", singular: "pod", short: []string{"po"}, namespaced: true,
		newObject: func() runtime.Object { return &corev1.Pod{} },
		newList:   func() runtime.Object { return &corev1.PodList{} },
		columns: []column[*corev1.Pod]{
			{name: "Ready", kind: "string", cell: func(p *corev1.Pod) any { return readyContainers(p) }},
			{name: "Status", kind: "string", cell: func(p *corev1.Pod) any { return podState(p) }},
			{name: "Restarts", kind: "string", cell: func(p *corev1.Pod) any { return restarts(p) }},
			{name: "IP", kind: "string", wide: true, cell: func(p *corev1.Pod) any { return orNone(p.Status.PodIP) }},
			{name: "Node", kind: "string", wide: true, cell: func(p *corev1.Pod) any { return orNone(p.Spec.NodeName) }},
		},
		fill: func(p *corev1.Pod) {
			p.Status = corev1.PodStatus{Phase: corev1.PodPending, QOSClass: corev1.PodQOSBestEffort}
			p.Generation = 1
			defaultPod(&p.Spec)
			admission.DropPodFields(groups, p, nil)
		},
		keep: func(updated, old *corev1.Pod) {
			updated.Status = old.Status
			defaultPod(&updated.Spec)
			admission.DropPodFields(groups, updated, old)
		},
		keepForStatus: func(updated, old *corev1.Pod) {
			updated.Spec = old.Spec
			updated.DeletionTimestamp = old.DeletionTimestamp
			admission.DropPodFields(groups, updated, old)
		},
		validate:       validatePod,
		validateUpdate: validatePodUpdate,
		validateStatus: func(p *corev1.Pod) field.ErrorList {
			return admission.ValidateStatuses(&p.Spec, &p.Status, field.NewPath("status"))
		},
		grace: podGrace,
	}
}

// podGrace is what the pod asks for, and nothing when no kubelet has to stop it.
func podGrace(p *corev1.Pod) int64 {
	finished := p.Status.Phase == corev1.PodSucceeded || p.Status.Phase == corev1.PodFailed
	if p.Spec.NodeName == "" || finished || p.Spec.TerminationGracePeriodSeconds == nil {
		return 0
	}
	return *p.Spec.TerminationGracePeriodSeconds
}

func readyContainers(p *corev1.Pod) string {
	ready := 0
	for _, c := range p.Status.ContainerStatuses {
		if c.Ready {
			ready++
		}
	}
	return fmt.Sprintf("%d/%d", ready, len(p.Spec.Containers))
}

// podState is the phase, or what says more than the phase does.
func podState(p *corev1.Pod) string {
	state := string(p.Status.Phase)
	if p.Status.Reason != "" {
		state = p.Status.Reason
	}
	for _, c := range p.Status.ContainerStatuses {
		switch {
		case c.State.Waiting != nil && c.State.Waiting.Reason != "":
			state = c.State.Waiting.Reason
		case c.State.Terminated != nil && c.State.Terminated.Reason != "":
			state = c.State.Terminated.Reason
		}
	}
	if p.DeletionTimestamp != nil {
		return "Terminating"
	}
	return state
}

func restarts(p *corev1.Pod) string {
	var count int32
	last := ""
	for _, c := range p.Status.ContainerStatuses {
		count += c.RestartCount
		if t := c.LastTerminationState.Terminated; t != nil && !t.FinishedAt.IsZero() {
			last = " (" + age(t.FinishedAt) + " ago)"
		}
	}
	return fmt.Sprint(count) + last
}

func orNone(text string) string {
	if text == "" {
		return "<none>"
	}
	return text
}
