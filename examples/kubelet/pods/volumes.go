package pods

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// mounts returns the container's mounts in the order of its spec, and makes on
// the host what they need.
func (m *Manager) mounts(ctx context.Context, pod *corev1.Pod, c *corev1.Container) ([]*runtimeapi.Mount, error) {
	// Nobody else on the node reads the files of secrets.
	if err := os.MkdirAll(m.podDirectory(pod), 0o700); err != nil {
		return nil, err
	}
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
		return dir, project(dir, secret.Data, fsGroup(pod))
	case v.ConfigMap != nil:
		config, err := m.Client.CoreV1().ConfigMaps(pod.Namespace).Get(ctx, v.ConfigMap.Name, metav1.GetOptions{})
		if err != nil {
			return "", err
		}
		files := map[string][]byte{}
		for name, text := range config.Data {
			files[name] = []byte(text)
		}
		maps.Copy(files, config.BinaryData)
		return dir, project(dir, files, fsGroup(pod))
	}
	return "", fmt.Errorf("its kind is not supported by this kubelet")
}

// emptyDir makes the directory once. It belongs to fsGroup where the pod has one, with
// the set-group-ID bit, so that files made in it do too.
func emptyDir(dir string, pod *corev1.Pod) error {
	if _, err := os.Stat(dir); err == nil {
		return nil
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	mode := os.FileMode(0o777)
	if group := fsGroup(pod); group >= 0 {
		if err := os.Chown(dir, -1, group); err != nil {
			return err
		}
		mode |= os.ModeSetgid
	}
	return os.Chmod(dir, mode)
}

// fsGroup returns the group of the pod's volumes, -1 for none.
func fsGroup(pod *corev1.Pod) int {
	if sc := pod.Spec.SecurityContext; sc != nil && sc.FSGroup != nil {
		return int(*sc.FSGroup)
	}
	return -1
}

// project writes the files of a secret or a config map, whose keys the API server
// has checked to be plain file names. They belong to the group unless it is -1.
func project(dir string, files map[string][]byte, group int) error {
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
		if err := root.Chown(name, -1, group); err != nil {
			return err
		}
	}
	return nil
}
