package admission

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

const windowsDetail = "cannot be set for a windows pod"

var policies = []corev1.SupplementalGroupsPolicy{corev1.SupplementalGroupsPolicyMerge, corev1.SupplementalGroupsPolicyStrict}

// ValidatePodSpec returns every fault of the pod's supplementalGroups and supplementalGroupsPolicy, in the order of the
// fields; nil for none. path is where the spec is, usually field.NewPath("spec").
//
// Forbidden: either field when spec.os.name is windows. Invalid: a group outside 0 to 2147483647. Unsupported: a policy
// that is neither "Merge" nor "Strict", in exactly that spelling.
func ValidatePodSpec(spec *corev1.PodSpec, path *field.Path) field.ErrorList {
	sc := spec.SecurityContext
	if sc == nil {
		return nil
	}
	path = path.Child("securityContext")
	groups, policy := path.Child("supplementalGroups"), path.Child("supplementalGroupsPolicy")
	var errs field.ErrorList
	if isWindows(spec) {
		if sc.SupplementalGroups != nil {
			errs = append(errs, field.Forbidden(groups, windowsDetail))
		}
		if sc.SupplementalGroupsPolicy != nil {
			errs = append(errs, field.Forbidden(policy, windowsDetail))
		}
		return errs
	}
	errs = append(errs, validateGroups(sc.SupplementalGroups, groups)...)
	if p := sc.SupplementalGroupsPolicy; p != nil && *p != policies[0] && *p != policies[1] {
		errs = append(errs, field.NotSupported(policy, *p, policies))
	}
	return errs
}

// ValidateStatuses returns every fault of the users in the pod's container statuses, of all three kinds; nil for none.
// path is where the status is, usually field.NewPath("status").
//
// Forbidden: user.linux when spec.os.name is windows. Invalid: an ID outside 0 to 2147483647.
func ValidateStatuses(spec *corev1.PodSpec, status *corev1.PodStatus, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	for _, kind := range containerStatuses(status) {
		for i := range kind.list {
			if user := kind.list[i].User; user != nil && user.Linux != nil {
				errs = append(errs, validateUser(spec, user.Linux, path.Child(kind.name).Index(i).Child("user", "linux"))...)
			}
		}
	}
	return errs
}

func validateUser(spec *corev1.PodSpec, user *corev1.LinuxContainerUser, path *field.Path) field.ErrorList {
	if isWindows(spec) {
		return field.ErrorList{field.Forbidden(path, windowsDetail)}
	}
	var errs field.ErrorList
	for _, msg := range validation.IsValidUserID(user.UID) {
		errs = append(errs, field.Invalid(path.Child("uid"), user.UID, msg))
	}
	for _, msg := range validation.IsValidGroupID(user.GID) {
		errs = append(errs, field.Invalid(path.Child("gid"), user.GID, msg))
	}
	return append(errs, validateGroups(user.SupplementalGroups, path.Child("supplementalGroups"))...)
}

func validateGroups(groups []int64, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	for i, gid := range groups {
		for _, msg := range validation.IsValidGroupID(gid) {
			errs = append(errs, field.Invalid(path.Index(i), gid, msg))
		}
	}
	return errs
}

func isWindows(spec *corev1.PodSpec) bool {
	return spec.OS != nil && spec.OS.Name == corev1.Windows
}

type statusList struct {
	name string
	list []corev1.ContainerStatus
}

func containerStatuses(status *corev1.PodStatus) []statusList {
	return []statusList{
		{"containerStatuses", status.ContainerStatuses},
		{"initContainerStatuses", status.InitContainerStatuses},
		{"ephemeralContainerStatuses", status.EphemeralContainerStatuses},
	}
}
