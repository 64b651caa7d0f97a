package fields

import (
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
)

// TestCheckAdversarial has what looks harmless and is not.
func TestCheckAdversarial(t *testing.T) {
	localhost, empty := "profile.json", corev1.HostPathType("")
	for _, c := range []struct {
		name   string
		change func(*corev1.Pod)
		want   []string
	}{
		{"a volume whose name is a path", func(p *corev1.Pod) { p.Spec.Volumes[0].Name = "../../../etc" }, []string{"spec.volumes[0].name"}},
		{"a path in a volume, which may be a link", func(p *corev1.Pod) { p.Spec.Containers[0].VolumeMounts[0].SubPath = "link" }, []string{"spec.containers[0].volumeMounts[0].subPath"}},
		{"Unconfined with the name of a profile", func(p *corev1.Pod) {
			p.Spec.Containers[1].SecurityContext.SeccompProfile.LocalhostProfile = &localhost
		}, []string{"spec.containers[1].securityContext.seccompProfile.localhostProfile"}},
		{"RuntimeDefault for the pod, Unconfined for its containers", func(p *corev1.Pod) {
			p.Spec.SecurityContext.SeccompProfile = &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault}
		}, []string{"spec.securityContext.seccompProfile.type"}},
		{"a profile without a type", func(p *corev1.Pod) { p.Spec.Containers[0].SecurityContext.SeccompProfile.Type = "" }, nil},
		{"a probe that is empty", func(p *corev1.Pod) { p.Spec.Containers[0].ReadinessProbe = &corev1.Probe{} }, []string{"spec.containers[0].readinessProbe"}},
		{"a deadline of nothing", func(p *corev1.Pod) { p.Spec.ActiveDeadlineSeconds = new(int64) }, []string{"spec.activeDeadlineSeconds"}},
		{"a host path of no type", func(p *corev1.Pod) { p.Spec.Volumes[1].HostPath.Type = &empty }, nil},
		{"a port that the pod shares with the node", func(p *corev1.Pod) {
			p.Spec.HostNetwork, p.Spec.Containers[0].Ports[0].HostPort = true, p.Spec.Containers[0].Ports[0].ContainerPort
		}, nil},
		{"a port of the node in a network of the pod's own", func(p *corev1.Pod) { p.Spec.Containers[0].Ports[0].HostPort = 80 }, []string{"spec.containers[0].ports[0].hostPort"}},
		{"a reference to a variable of the container", func(p *corev1.Pod) { p.Spec.Containers[2].Args = []string{"x", "$(N)"} }, []string{"spec.containers[2].args[1]"}},
		{"a reference to a variable of another name", func(p *corev1.Pod) { p.Spec.Containers[2].Args = []string{"$(NO)", "$HOME"} }, nil},
		{"a limit of two things, one unknown", func(p *corev1.Pod) {
			p.Spec.Containers[0].Resources.Limits["ephemeral-storage"] = p.Spec.Containers[0].Resources.Limits["memory"]
		}, []string{`spec.containers[0].resources.limits["ephemeral-storage"]`}},
		{"annotations of older versions", func(p *corev1.Pod) {
			p.Annotations = map[string]string{
				"seccomp.security.alpha.kubernetes.io/pod":               "docker/default",
				"container.seccomp.security.alpha.kubernetes.io/a":       "unconfined",
				"container.apparmor.security.beta.kubernetes.io/a":       "localhost/x",
				"security.alpha.kubernetes.io/sysctls":                   "",
				"kubectl.kubernetes.io/default-container":                "a",
				"container.apparmor.security.beta.kubernetes.io.example": "x",
			}
		}, []string{
			`metadata.annotations["container.apparmor.security.beta.kubernetes.io/a"]`,
			`metadata.annotations["seccomp.security.alpha.kubernetes.io/pod"]`,
			`metadata.annotations["security.alpha.kubernetes.io/sysctls"]`,
		}},
		{"a mirror of a static pod", func(p *corev1.Pod) { p.Annotations = map[string]string{"kubernetes.io/config.mirror": "x"} }, []string{`metadata.annotations["kubernetes.io/config.mirror"]`}},
	} {
		t.Run("STK-10 "+c.name, func(t *testing.T) {
			p := plainPod()
			c.change(p)
			if got := paths(Check(p)); !slices.Equal(got, append([]string{}, c.want...)) {
				t.Errorf("Check = %v, want %v", got, c.want)
			}
		})
	}
	t.Run("STK-10 a message fits into an event and says how many it leaves out", func(t *testing.T) {
		var many []Refusal
		for range 100 {
			many = append(many, Refusal{"spec.containers[0].volumeMounts[0].subPathExpr", "$(NAME) is not expanded"})
		}
		if got := Message(many); len(got) > maxMessageBytes || !endsInMore(got) {
			t.Errorf("Message has %d bytes: %q", len(got), got)
		}
		if got := Message(many[:1]); got != many[0].String() {
			t.Errorf("Message of one = %q, want %q", got, many[0])
		}
	})
}

func endsInMore(text string) bool { return len(text) > 4 && text[len(text)-4:] == "more" }
