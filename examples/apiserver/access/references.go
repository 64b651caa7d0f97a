package access

import corev1 "k8s.io/api/core/v1"

// secretsOf returns the names of the secrets that a pod refers to.
func secretsOf(p *corev1.Pod) []string {
	var names []string
	for _, s := range p.Spec.ImagePullSecrets {
		names = append(names, s.Name)
	}
	for _, v := range p.Spec.Volumes {
		if v.Secret != nil {
			names = append(names, v.Secret.SecretName)
		}
	}
	eachReference(p, func(r reference) {
		if r.secret != nil {
			names = append(names, r.secret.Name)
		}
	})
	return names
}

// configMapsOf returns the names of the config maps that a pod refers to.
func configMapsOf(p *corev1.Pod) []string {
	var names []string
	for _, v := range p.Spec.Volumes {
		if v.ConfigMap != nil {
			names = append(names, v.ConfigMap.Name)
		}
	}
	eachReference(p, func(r reference) {
		if r.configMap != nil {
			names = append(names, r.configMap.Name)
		}
	})
	return names
}

// claimsOf returns the names of the volume claims that a pod mounts.
func claimsOf(p *corev1.Pod) []string {
	var names []string
	for _, v := range p.Spec.Volumes {
		if v.PersistentVolumeClaim != nil {
			names = append(names, v.PersistentVolumeClaim.ClaimName)
		}
	}
	return names
}

// reference is one place of a pod that takes something from a secret or a config map.
type reference struct {
	secret, configMap *corev1.LocalObjectReference
}

// eachReference visits the projected volumes and the containers' environments.
func eachReference(p *corev1.Pod, visit func(reference)) {
	for _, v := range p.Spec.Volumes {
		if v.Projected == nil {
			continue
		}
		for _, s := range v.Projected.Sources {
			visit(ofProjection(s))
		}
	}
	for _, containers := range [][]corev1.Container{p.Spec.InitContainers, p.Spec.Containers} {
		for _, c := range containers {
			for _, from := range c.EnvFrom {
				visit(ofEnvFrom(from))
			}
			for _, e := range c.Env {
				visit(ofEnv(e))
			}
		}
	}
}

func ofProjection(s corev1.VolumeProjection) (r reference) {
	if s.Secret != nil {
		r.secret = &s.Secret.LocalObjectReference
	}
	if s.ConfigMap != nil {
		r.configMap = &s.ConfigMap.LocalObjectReference
	}
	return r
}

func ofEnvFrom(from corev1.EnvFromSource) (r reference) {
	if from.SecretRef != nil {
		r.secret = &from.SecretRef.LocalObjectReference
	}
	if from.ConfigMapRef != nil {
		r.configMap = &from.ConfigMapRef.LocalObjectReference
	}
	return r
}

func ofEnv(e corev1.EnvVar) (r reference) {
	if e.ValueFrom == nil {
		return r
	}
	if ref := e.ValueFrom.SecretKeyRef; ref != nil {
		r.secret = &ref.LocalObjectReference
	}
	if ref := e.ValueFrom.ConfigMapKeyRef; ref != nil {
		r.configMap = &ref.LocalObjectReference
	}
	return r
}
