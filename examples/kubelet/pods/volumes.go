package pods

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// mounts returns the container's mounts in the order of its spec, and makes on
// the host what they need.
func (m *Manager) mounts(ctx context.Context, pod *corev1.Pod, c *corev1.Container) ([]*runtimeapi.Mount, error) {
	var out []*runtimeapi.Mount
	for _, vm := range c.VolumeMounts {
		volume := volumeNamed(pod, vm.Name)
		if volume == nil {
			return nil, fmt.Errorf("volume mount %q: the pod has no such volume", vm.Name)
		}
		host, err := m.volume(ctx, pod, volume)
		if err != nil {
			return nil, fmt.Errorf("volume %q: %w", vm.Name, err)
		}
		if vm.SubPath != "" {
			if !filepath.IsLocal(vm.SubPath) {
				return nil, fmt.Errorf("volume mount %q: subPath %q leaves the volume", vm.Name, vm.SubPath)
			}
			host = filepath.Join(host, vm.SubPath)
		}
		out = append(out, &runtimeapi.Mount{ContainerPath: vm.MountPath, HostPath: host, Readonly: vm.ReadOnly || readOnlySource(volume)})
	}
	return out, nil
}

func volumeNamed(pod *corev1.Pod, name string) *corev1.Volume {
	for i := range pod.Spec.Volumes {
		if pod.Spec.Volumes[i].Name == name {
			return &pod.Spec.Volumes[i]
		}
	}
	return nil
}

func readOnlySource(v *corev1.Volume) bool {
	return v.Secret != nil || v.ConfigMap != nil
}

// volume returns the path of the volume on the host.
func (m *Manager) volume(ctx context.Context, pod *corev1.Pod, v *corev1.Volume) (string, error) {
	dir := filepath.Join(m.podDirectory(pod), "volumes", v.Name)
	switch {
	case v.HostPath != nil:
		return v.HostPath.Path, nil
	case v.EmptyDir != nil:
		return dir, emptyDir(dir, pod)
	case v.Secret != nil:
		secret, err := m.Client.CoreV1().Secrets(pod.Namespace).Get(ctx, v.Secret.SecretName, metav1.GetOptions{})
		if err != nil {
			return "", err
		}
		return dir, project(dir, secret.Data)
	case v.ConfigMap != nil:
		config, err := m.Client.CoreV1().ConfigMaps(pod.Namespace).Get(ctx, v.ConfigMap.Name, metav1.GetOptions{})
		if err != nil {
			return "", err
		}
		files := map[string][]byte{}
		for name, text := range config.Data {
			files[name] = []byte(text)
		}
		return dir, project(dir, files)
	}
	return "", fmt.Errorf("its kind is not supported by this kubelet")
}

// emptyDir makes the folder once. It belongs to fsGroup where the pod has one, with
// the set-group-ID bit, so that files made in it do too.
func emptyDir(dir string, pod *corev1.Pod) error {
	if _, err := os.Stat(dir); err == nil {
		return nil
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	mode := os.FileMode(0o777)
	if sc := pod.Spec.SecurityContext; sc != nil && sc.FSGroup != nil {
		if err := os.Chown(dir, -1, int(*sc.FSGroup)); err != nil {
			return err
		}
		mode |= os.ModeSetgid
	}
	return os.Chmod(dir, mode)
}

// project writes the files of a secret or a config map, whose keys the API server
// has checked to be plain file names.
func project(dir string, files map[string][]byte) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	for name, data := range files {
		if err := root.WriteFile(name, data, 0o644); err != nil {
			return err
		}
	}
	return nil
}
