package bridge_test

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kubeletconfig "k8s.io/kubelet/config/v1beta1"

	"github.com/lanyard-dev/lanyard/examples/bridge"
	"github.com/lanyard-dev/lanyard/examples/containerdrig"
	"github.com/lanyard-dev/lanyard/examples/kubernetes"
	"github.com/lanyard-dev/lanyard/examples/parts"
	"github.com/lanyard-dev/lanyard/examples/testimage"
	"github.com/lanyard-dev/lanyard/execaudit/bridge/readiness"
	"github.com/lanyard-dev/lanyard/execaudit/bridge/token"
)

// nodeImage is the chart's image under the registry that the tests name.
const nodeImage = "localhost/lanyard-dev/lanyard-bridge:v0.1.0"

// TestChartNode runs the DaemonSet's pod on a real node, with what the chart gives it and no more. There is no network for
// pods here, and no scheduler: it has the node's network and the node's name.
func TestChartNode(t *testing.T) {
	bridge.Need(t)
	c := kubernetes.Own(t, kubernetes.Options{Nodes: []kubernetes.Node{{
		Private: []string{"/etc/containerd", "/etc/lanyard", "/opt/lanyard", "/run/lanyard", "/var/lib/lanyard"},
		Containerd: func(config *containerdrig.Config) {
			config.Imports = []string{"/etc/containerd/conf.d/*.toml"}
			if file, err := filepath.EvalSymlinks(config.Runc); err == nil {
				config.Runc = file // the pod sees its directory, and not that of a link to it
			}
		},
		Config: func(config *kubeletconfig.KubeletConfiguration) {
			config.FeatureGates = map[string]bool{"KubeletCrashLoopBackOffMax": true}
			config.CrashLoopBackOff.MaxContainerRestartPeriod = &metav1.Duration{Duration: time.Second}
		},
	}}})
	w := c.Node("")
	if err := w.Import(t.Context(), nodeImage, programsImage(t)); err != nil {
		t.Fatal(err)
	}
	if err := c.Namespace(t.Context(), "lanyard"); err != nil {
		t.Fatal(err)
	}
	keys := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "lanyard-bridge-keys"}, Data: map[string]string{"keys": token.Keys{token.NewKey().Public()}.Text()}}
	if _, err := c.Client().CoreV1().ConfigMaps("lanyard").Create(t.Context(), keys, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	runc, err := parts.Find("runc")
	if err == nil {
		runc, err = filepath.EvalSymlinks(runc)
	}
	if err != nil {
		t.Fatal(err)
	}
	values := func(uninstall bool) mapping {
		return mapping{
			"image": mapping{"registry": "localhost"},
			// Nobody is there: what is asked of the node here is asked past the webhook.
			"webhook": mapping{"url": "https://127.0.0.1:1", "failurePolicy": "Ignore"},
			"node": mapping{
				"uninstall": uninstall,
				"paths":     mapping{"criSocket": w.Socket(), "runtimes": filepath.Dir(runc)},
			},
		}
	}
	before := files(t, w.Private("/etc/containerd"))
	objects := render(t, bridge.Release{Values: values(false)})
	if err := objects.Apply(t.Context(), c.Admin().Config, "lanyard"); err != nil {
		t.Fatal(err)
	}

	daemon := daemonPod(t, c, objects)
	t.Run("BRG-9 the node's pod waits for the runtime's restart", func(t *testing.T) { awaitInit(t, c, daemon, 3) })
	t.Run("BRG-9 BRG-13 after the restart the node is ready for the chart's handler", func(t *testing.T) {
		if err := w.RestartContainerd(t.Context()); err != nil {
			t.Fatal(err)
		}
		ready(t, c, daemon)
		chartSoon(t, "the Lease has the handler", func() bool {
			lease, err := c.Client().CoordinationV1().Leases("lanyard").Get(t.Context(), readiness.LeaseName(w.Name), metav1.GetOptions{})
			if err != nil {
				return false
			}
			said, err := readiness.Parse(lease.Annotations)
			_, there := said.Handlers["lanyard"]
			return err == nil && there && len(said.Keys) == 1
		})
	})
	t.Run("BRG-9 pods of the chart's RuntimeClass have the wrapper, and others have not", func(t *testing.T) {
		class := "lanyard"
		for _, pod := range []*corev1.Pod{{Spec: corev1.PodSpec{RuntimeClassName: &class}}, {}} {
			pod, err := c.Run(t.Context(), pod)
			if err != nil {
				t.Fatal(err)
			}
			if got, err := c.Admin().Exec(t.Context(), kubernetes.Session{Pod: pod.Name, Command: []string{testimage.Program}}); err != nil || got.Code != 0 {
				t.Errorf("exec = %+v, %v", got, err)
			}
			_, err = c.Admin().Exec(t.Context(), kubernetes.Session{Pod: pod.Name, Command: []string{token.Prefix + "1:forged", testimage.Program}})
			if wrapped := pod.Spec.RuntimeClassName != nil; err == nil || strings.Contains(err.Error(), "executable file not found") == wrapped {
				t.Errorf("exec of a forged token in a pod of class %v: %v", pod.Spec.RuntimeClassName, err)
			}
			if err := c.Remove(t.Context(), pod); err != nil {
				t.Fatal(err)
			}
		}
	})
	t.Run("BRG-9 BRG-11 node.uninstall takes the wrapper off, and the configuration is as before", func(t *testing.T) {
		if err := c.Remove(t.Context(), daemon); err != nil {
			t.Fatal(err)
		}
		leaving := daemonPod(t, c, render(t, bridge.Release{Values: values(true)}))
		awaitInit(t, c, leaving, 3)
		if after := files(t, w.Private("/etc/containerd")); !slices.Equal(after, before) {
			t.Errorf("/etc/containerd has %q, before %q", after, before)
		}
		if err := w.RestartContainerd(t.Context()); err != nil {
			t.Fatal(err)
		}
		ready(t, c, leaving)
		if left := files(t, w.Private("/opt/lanyard")); len(left) > 0 {
			t.Errorf("/opt/lanyard has %q", left)
		}
	})
}

// programsImage is an image of the bridge's two programs, as the chart's Dockerfile makes it.
func programsImage(t *testing.T) v1.Image {
	t.Helper()
	var entries []testimage.Entry
	for _, name := range []string{"lanyard-bridge", "lanyard-oci"} {
		path, err := parts.Find(name)
		if err != nil {
			t.Fatal(err)
		}
		program, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		entries = append(entries, testimage.File(name, 0o755, string(program)))
	}
	layer, err := testimage.Layer(entries...)
	if err != nil {
		t.Fatal(err)
	}
	image, err := testimage.FromLayers(v1.Config{User: "65532:65532", Entrypoint: []string{"/lanyard-bridge"}}, layer)
	if err != nil {
		t.Fatal(err)
	}
	return image
}

// daemonPod creates the pod that the DaemonSet is of.
func daemonPod(t *testing.T, c *kubernetes.Cluster, objects bridge.Objects) *corev1.Pod {
	t.Helper()
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "lanyard", GenerateName: "node-"},
		Spec:       typed[appsv1.DaemonSet](t, objects, "DaemonSet", "lanyard-bridge-node").Spec.Template.Spec,
	}
	// No token is on its way here, for which it would wait.
	for i, arg := range pod.Spec.InitContainers[0].Args {
		if strings.HasPrefix(arg, "--settle=") {
			pod.Spec.InitContainers[0].Args[i] = "--settle=0s"
		}
	}
	// Nothing here leads to a Service's address.
	server, err := url.Parse(c.URL())
	if err != nil {
		t.Fatal(err)
	}
	daemon := &pod.Spec.Containers[0]
	daemon.Env = append(daemon.Env, corev1.EnvVar{Name: "KUBERNETES_SERVICE_HOST", Value: server.Hostname()}, corev1.EnvVar{Name: "KUBERNETES_SERVICE_PORT", Value: server.Port()})
	created, err := c.Create(t.Context(), pod)
	if err != nil {
		t.Fatal(err)
	}
	return created
}

// awaitInit waits until the pod's init container has ended with the code.
func awaitInit(t *testing.T, c *kubernetes.Cluster, pod *corev1.Pod, code int32) {
	t.Helper()
	err := kubernetes.Await(t.Context(), fmt.Sprintf("exit code %d of %s", code, pod.Spec.InitContainers[0].Name), func(ctx context.Context) (bool, error) {
		now, err := c.Client().CoreV1().Pods(pod.Namespace).Get(ctx, pod.Name, metav1.GetOptions{})
		if err != nil || len(now.Status.InitContainerStatuses) == 0 {
			return false, err
		}
		status := now.Status.InitContainerStatuses[0]
		for _, state := range []corev1.ContainerState{status.State, status.LastTerminationState} {
			if ended := state.Terminated; ended != nil {
				return ended.ExitCode == code, fmt.Errorf("exit code %d", ended.ExitCode)
			}
		}
		return false, fmt.Errorf("%+v", status.State)
	})
	if err != nil {
		t.Fatal(err, said(t, c, pod))
	}
}

// ready waits until the pod is.
func ready(t *testing.T, c *kubernetes.Cluster, pod *corev1.Pod) {
	t.Helper()
	if now, err := c.AwaitPod(t.Context(), pod); err != nil || now.Status.Phase != corev1.PodRunning {
		t.Fatal(err, said(t, c, pod))
	}
}

// said is what the pod's containers printed.
func said(t *testing.T, c *kubernetes.Cluster, pod *corev1.Pod) (out string) {
	t.Helper()
	for _, container := range slices.Concat(pod.Spec.InitContainers, pod.Spec.Containers) {
		text, err := c.Client().CoreV1().Pods(pod.Namespace).GetLogs(pod.Name, &corev1.PodLogOptions{Container: container.Name}).DoRaw(t.Context())
		out += fmt.Sprintf("\n== %s %v\n%s", container.Name, err, text)
	}
	return out
}

// files are the regular files below a directory, each with its content.
func files(t *testing.T, dir string) (out []string) {
	t.Helper()
	if err := filepath.WalkDir(dir, func(path string, entry os.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		text, err := os.ReadFile(path)
		out = append(out, path+"\n"+string(text))
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return out
}
