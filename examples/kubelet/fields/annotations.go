package fields

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// annotation is one that an older Kubernetes took for what is a field now, or that a kubelet acts on.
type annotation struct {
	name    string // a prefix where it ends with a slash
	value   string // the value that asks for what is done anyway; "" for none
	because string
}

const noProfile = "no security profile is applied"

var annotations = []annotation{
	{"seccomp.security.alpha.kubernetes.io/pod", "unconfined", noProfile},
	{"container.seccomp.security.alpha.kubernetes.io/", "unconfined", noProfile},
	{"container.apparmor.security.beta.kubernetes.io/", "unconfined", noProfile},
	{"security.alpha.kubernetes.io/sysctls", "", "no kernel parameter is set"},
	{"security.alpha.kubernetes.io/unsafe-sysctls", "", "no kernel parameter is set"},
	{"pod.alpha.kubernetes.io/init-containers", "", "init containers are a field"},
	{"pod.beta.kubernetes.io/init-containers", "", "init containers are a field"},
	{"pod.beta.kubernetes.io/hostname", "", "the host name is a field"},
	{"pod.beta.kubernetes.io/subdomain", "", "pods have no domain"},
	{"scheduler.alpha.kubernetes.io/critical-pod", "", "pods have no order among each other"},
	{"kubernetes.io/ingress-bandwidth", "", "bandwidth is not limited"},
	{"kubernetes.io/egress-bandwidth", "", "bandwidth is not limited"},
	{"kubernetes.io/config.mirror", "", "it marks the image of a static pod, and there are no static pods"},
	{"kubernetes.io/config.source", "api", "pods come from the API server alone"},
}

// matches reports whether the annotation is the one that the entry is about.
func (a annotation) matches(name string) bool {
	if strings.HasSuffix(a.name, "/") {
		return strings.HasPrefix(name, a.name)
	}
	return name == a.name
}

// checkAnnotations returns those that ask for something which is not done, by name.
func checkAnnotations(pod *corev1.Pod) []Refusal {
	var out []Refusal
	for _, name := range slices.Sorted(maps.Keys(pod.Annotations)) {
		for _, a := range annotations {
			if a.matches(name) && (a.value == "" || pod.Annotations[name] != a.value) {
				out = append(out, Refusal{fmt.Sprintf("metadata.annotations[%q]", name), a.because})
			}
		}
	}
	return out
}
