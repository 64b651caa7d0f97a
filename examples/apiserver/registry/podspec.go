package registry

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/lanyard-dev/lanyard/supgroups/admission"
)

// defaultPod fills in what clients may leave out and kubelets rely on.
func defaultPod(spec *corev1.PodSpec) {
	setDefault(&spec.RestartPolicy, corev1.RestartPolicyAlways)
	setDefault(&spec.DNSPolicy, corev1.DNSClusterFirst)
	setDefault(&spec.SchedulerName, corev1.DefaultSchedulerName)
	setDefault(&spec.ServiceAccountName, "default")
	spec.DeprecatedServiceAccount = spec.ServiceAccountName
	setPointer(&spec.TerminationGracePeriodSeconds, corev1.DefaultTerminationGracePeriodSeconds)
	setPointer(&spec.EnableServiceLinks, corev1.DefaultEnableServiceLinks)
	if spec.SecurityContext == nil {
		spec.SecurityContext = &corev1.PodSecurityContext{}
	}
	for i := range spec.Volumes {
		defaultVolume(&spec.Volumes[i].VolumeSource)
	}
	for i := range spec.InitContainers {
		defaultContainer(&spec.InitContainers[i])
	}
	for i := range spec.Containers {
		defaultContainer(&spec.Containers[i])
	}
}

// fileMode and tokenSeconds are the API's defaults. A real kubelet mounts no projected volume without a mode.
const (
	fileMode     = int32(0o644)
	tokenSeconds = int64(60 * 60)
)

func defaultVolume(v *corev1.VolumeSource) {
	if v.HostPath != nil {
		setPointer(&v.HostPath.Type, corev1.HostPathUnset)
	}
	if v.Secret != nil {
		setPointer(&v.Secret.DefaultMode, fileMode)
	}
	if v.ConfigMap != nil {
		setPointer(&v.ConfigMap.DefaultMode, fileMode)
	}
	if v.DownwardAPI != nil {
		setPointer(&v.DownwardAPI.DefaultMode, fileMode)
	}
	if v.Projected == nil {
		return
	}
	setPointer(&v.Projected.DefaultMode, fileMode)
	for _, source := range v.Projected.Sources {
		if source.ServiceAccountToken != nil {
			setPointer(&source.ServiceAccountToken.ExpirationSeconds, tokenSeconds)
		}
	}
}

func defaultContainer(c *corev1.Container) {
	setDefault(&c.ImagePullPolicy, corev1.PullIfNotPresent)
	setDefault(&c.TerminationMessagePath, corev1.TerminationMessagePathDefault)
	setDefault(&c.TerminationMessagePolicy, corev1.TerminationMessageReadFile)
	for i := range c.Env {
		if from := c.Env[i].ValueFrom; from != nil && from.FieldRef != nil {
			setDefault(&from.FieldRef.APIVersion, "v1")
		}
	}
	for i := range c.Ports {
		setDefault(&c.Ports[i].Protocol, corev1.ProtocolTCP)
	}
}

func setDefault[V comparable](field *V, value V) {
	if *field == *new(V) {
		*field = value
	}
}

func setPointer[V any](field **V, value V) {
	if *field == nil {
		*field = &value
	}
}

// validatePod checks what the kubelet could not make sense of. It is a small part of what Kubernetes checks.
func validatePod(p *corev1.Pod) field.ErrorList {
	path := field.NewPath("spec")
	faults := validateContainers(&p.Spec, path)
	faults = append(faults, oneOf(p.Spec.RestartPolicy, path.Child("restartPolicy"),
		corev1.RestartPolicyAlways, corev1.RestartPolicyOnFailure, corev1.RestartPolicyNever)...)
	return append(faults, admission.ValidatePodSpec(&p.Spec, path)...)
}

func validateContainers(spec *corev1.PodSpec, path *field.Path) field.ErrorList {
	var faults field.ErrorList
	if len(spec.Containers) == 0 {
		faults = append(faults, field.Required(path.Child("containers"), ""))
	}
	seen := map[string]bool{}
	check := func(containers []corev1.Container, path *field.Path) {
		for i, c := range containers {
			faults = append(faults, validateContainer(c, seen, path.Index(i))...)
			seen[c.Name] = true
		}
	}
	check(spec.InitContainers, path.Child("initContainers"))
	check(spec.Containers, path.Child("containers"))
	return faults
}

func validateContainer(c corev1.Container, seen map[string]bool, path *field.Path) field.ErrorList {
	var faults field.ErrorList
	for _, problem := range validation.IsDNS1123Label(c.Name) {
		faults = append(faults, field.Invalid(path.Child("name"), c.Name, problem))
	}
	if seen[c.Name] {
		faults = append(faults, field.Duplicate(path.Child("name"), c.Name))
	}
	if c.Image == "" {
		faults = append(faults, field.Required(path.Child("image"), ""))
	}
	for i, e := range c.Env {
		for _, problem := range validation.IsRelaxedEnvVarName(e.Name) {
			faults = append(faults, field.Invalid(path.Child("env").Index(i).Child("name"), e.Name, problem))
		}
	}
	return faults
}

// validatePodUpdate allows new images and added tolerations only; the node is set by a binding.
func validatePodUpdate(updated, old *corev1.Pod) field.ErrorList {
	spec := updated.Spec.DeepCopy()
	if len(spec.Containers) == len(old.Spec.Containers) {
		for i := range spec.Containers {
			spec.Containers[i].Image = old.Spec.Containers[i].Image
		}
	}
	spec.Tolerations = old.Spec.Tolerations
	spec.ActiveDeadlineSeconds = old.Spec.ActiveDeadlineSeconds
	spec.TerminationGracePeriodSeconds = old.Spec.TerminationGracePeriodSeconds
	return unchanged(*spec, old.Spec, field.NewPath("spec"))
}
