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
		for _, s := range sources(v) {
			if s.Secret != nil {
				names = append(names, s.Secret.Name)
			}
		}
	}
	eachContainer(p, func(c *corev1.Container) {
		for _, from := range c.EnvFrom {
			if from.SecretRef != nil {
				names = append(names, from.SecretRef.Name)
			}
		}
		for _, e := range c.Env {
			if e.ValueFrom != nil && e.ValueFrom.SecretKeyRef != nil {
				names = append(names, e.ValueFrom.SecretKeyRef.Name)
			}
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
		for _, s := range sources(v) {
			if s.ConfigMap != nil {
				names = append(names, s.ConfigMap.Name)
			}
		}
	}
	eachContainer(p, func(c *corev1.Container) {
		for _, from := range c.EnvFrom {
			if from.ConfigMapRef != nil {
				names = append(names, from.ConfigMapRef.Name)
			}
		}
		for _, e := range c.Env {
			if e.ValueFrom != nil && e.ValueFrom.ConfigMapKeyRef != nil {
				names = append(names, e.ValueFrom.ConfigMapKeyRef.Name)
			}
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

func sources(v corev1.Volume) []corev1.VolumeProjection {
	if v.Projected == nil {
		return nil
	}
	return v.Projected.Sources
}

func eachContainer(p *corev1.Pod, do func(*corev1.Container)) {
	for i := range p.Spec.InitContainers {
		do(&p.Spec.InitContainers[i])
	}
	for i := range p.Spec.Containers {
		do(&p.Spec.Containers[i])
	}
}
