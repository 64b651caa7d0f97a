package pods

import (
	corev1 "k8s.io/api/core/v1"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// setProfiles passes on that a container wants no profile, so that a runtime with one of its own applies none. Other
// profiles do not come here: the pod is not admitted.
func setProfiles(out *runtimeapi.LinuxContainerSecurityContext, pod *corev1.Pod, c *corev1.Container) {
	var seccomp *corev1.SeccompProfile
	var apparmor *corev1.AppArmorProfile
	if sc := pod.Spec.SecurityContext; sc != nil {
		seccomp, apparmor = sc.SeccompProfile, sc.AppArmorProfile
	}
	if sc := c.SecurityContext; sc != nil {
		if sc.SeccompProfile != nil {
			seccomp = sc.SeccompProfile
		}
		if sc.AppArmorProfile != nil {
			apparmor = sc.AppArmorProfile
		}
	}
	if seccomp != nil && seccomp.Type == corev1.SeccompProfileTypeUnconfined {
		out.Seccomp = &runtimeapi.SecurityProfile{ProfileType: runtimeapi.SecurityProfile_Unconfined}
	}
	if apparmor != nil && apparmor.Type == corev1.AppArmorProfileTypeUnconfined {
		out.Apparmor = &runtimeapi.SecurityProfile{ProfileType: runtimeapi.SecurityProfile_Unconfined}
	}
}

// maskedPaths are what procMount Default hides from a container that is not privileged, as Kubernetes documents it:
// files of the kernel that tell of the machine.
func maskedPaths() []string {
	return []string{
		"/proc/asound", "/proc/acpi", "/proc/interrupts", "/proc/kcore", "/proc/keys", "/proc/latency_stats", "/proc/timer_list",
		"/proc/timer_stats", "/proc/sched_debug", "/proc/scsi", "/sys/firmware", "/sys/devices/virtual/powercap",
	}
}

// readOnlyPaths are what procMount Default keeps a container that is not privileged from writing to.
func readOnlyPaths() []string {
	return []string{"/proc/bus", "/proc/fs", "/proc/irq", "/proc/sys", "/proc/sysrq-trigger"}
}
