package audience

import (
	"context"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
)

// inVolumes reports whether a volume of the pod asks for tokens with the audience: a projected token itself, or the CSI
// driver behind the volume. An error of one volume counts only when no other grants.
func (c Checker) inVolumes(ctx context.Context, pod *corev1.Pod, audience string) (bool, error) {
	var faults []error
	for i := range pod.Spec.Volumes {
		volume := &pod.Spec.Volumes[i]
		if projects(volume, audience) {
			return true, nil
		}
		granted, err := c.driverGrants(ctx, pod, volume, audience)
		if granted {
			return true, nil
		}
		if err != nil {
			faults = append(faults, fmt.Errorf("volume %q: %w", volume.Name, err))
		}
	}
	return false, errors.Join(faults...)
}

func projects(volume *corev1.Volume, audience string) bool {
	if volume.Projected == nil {
		return false
	}
	for _, source := range volume.Projected.Sources {
		if token := source.ServiceAccountToken; token != nil && token.Audience == audience {
			return true
		}
	}
	return false
}

func (c Checker) driverGrants(ctx context.Context, pod *corev1.Pod, volume *corev1.Volume, audience string) (bool, error) {
	name, err := c.driverOf(ctx, pod, volume)
	if err != nil || name == "" {
		return false, err
	}
	driver, err := c.Drivers.Driver(ctx, name)
	if err != nil {
		return false, err
	}
	for _, request := range driver.Spec.TokenRequests {
		if request.Audience == audience {
			return true, nil
		}
	}
	return false, nil
}

// driverOf returns the name of the CSI driver behind a volume, empty when there is none.
func (c Checker) driverOf(ctx context.Context, pod *corev1.Pod, volume *corev1.Volume) (string, error) {
	switch {
	case volume.Ephemeral != nil && volume.Ephemeral.VolumeClaimTemplate != nil:
		return c.driverOfClaim(ctx, pod.Namespace, pod.Name+"-"+volume.Name)
	case volume.PersistentVolumeClaim != nil:
		return c.driverOfClaim(ctx, pod.Namespace, volume.PersistentVolumeClaim.ClaimName)
	case volume.CSI != nil:
		return volume.CSI.Driver, nil
	}
	return migratedInline(&volume.VolumeSource), nil
}

func (c Checker) driverOfClaim(ctx context.Context, namespace, name string) (string, error) {
	claim, err := c.Claims.Claim(ctx, namespace, name)
	if err != nil {
		return "", err
	}
	volume, err := c.Volumes.Volume(ctx, claim.Spec.VolumeName)
	if err != nil {
		return "", err
	}
	if volume.Spec.CSI != nil {
		return volume.Spec.CSI.Driver, nil
	}
	return migratedPersistent(&volume.Spec.PersistentVolumeSource), nil
}
