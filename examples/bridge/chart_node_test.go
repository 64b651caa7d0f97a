package bridge_test

import (
	"context"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"golang.org/x/sys/unix"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
	kubeletconfig "k8s.io/kubelet/config/v1beta1"

	"github.com/lanyard-dev/lanyard/examples/bridge"
	"github.com/lanyard-dev/lanyard/examples/containerdrig"
	"github.com/lanyard-dev/lanyard/examples/kubernetes"
	"github.com/lanyard-dev/lanyard/examples/parts"
	"github.com/lanyard-dev/lanyard/examples/testimage"
	brg "github.com/lanyard-dev/lanyard/execaudit/bridge"
	"github.com/lanyard-dev/lanyard/execaudit/bridge/readiness"
)

// nodeImage is the chart's image under the registry that the tests name.
const nodeImage = "localhost/lanyard-dev/lanyard-bridge:v0.1.0"

// TestChartNode runs the chart's pods on a real node, with what the chart gives them and no more. There is no network for
// pods here, and no scheduler: they have the node's network and the node's name.
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
	installKeys(t, c)
	before := files(t, w.Private("/etc/containerd"))
	objects := nodeRelease(t, w, false)
	if err := objects.Apply(t.Context(), c.Admin().Config, "lanyard"); err != nil {
		t.Fatal(err)
	}
	leadToService(t, c)

	var webhook, daemon *corev1.Pod
	t.Run("BRG-9 the webhook's pod is ready with what it is given", func(t *testing.T) {
		webhook = podOf(t, c, typed[appsv1.Deployment](t, objects, "Deployment", "lanyard-bridge-webhook").Spec.Template)
		ready(t, c, webhook)
	})
	t.Run("BRG-9 the node's pod waits for the runtime's restart", func(t *testing.T) {
		daemon = podOf(t, c, typed[appsv1.DaemonSet](t, objects, "DaemonSet", "lanyard-bridge-node").Spec.Template)
		awaitInit(t, c, daemon, 3)
	})
	t.Run("BRG-9 BRG-13 after the restart the node is ready for the chart's handler", func(t *testing.T) {
		if err := w.RestartContainerd(t.Context()); err != nil {
			t.Fatal(err)
		}
		ready(t, c, daemon)
		var since time.Time
		chartSoon(t, "the Lease has the handler", func() bool {
			lease, err := c.Client().CoordinationV1().Leases("lanyard").Get(t.Context(), readiness.LeaseName(w.Name), metav1.GetOptions{})
			if err != nil {
				return false
			}
			said, err := readiness.Parse(lease.Annotations)
			handler, there := said.Handlers["lanyard"]
			since = handler.Since
			return err == nil && there && len(said.Keys) == 1
		})
		// Pods' times have whole seconds.
		chartSoon(t, "the next second", func() bool { return time.Now().After(since.Add(readiness.Margin + time.Second)) })
	})
	t.Run("BRG-1 BRG-9 a session in a pod of the chart's RuntimeClass has an identity, and one in another pod has not", func(t *testing.T) {
		alice, err := c.Certificate("alice", "system:masters")
		if err != nil {
			t.Fatal(err)
		}
		class := "lanyard"
		for _, pod := range []*corev1.Pod{{Spec: corev1.PodSpec{RuntimeClassName: &class}}, {}} {
			pod, err := c.Run(t.Context(), pod)
			if err != nil {
				t.Fatal(err)
			}
			got, err := alice.Exec(t.Context(), kubernetes.Session{Pod: pod.Name, Command: []string{testimage.Program}})
			if err != nil || got.Code != 0 {
				t.Fatal("exec:", got, err, said(t, c, webhook), said(t, c, daemon))
			}
			if has, want := strings.Contains(got.Stdout, brg.SessionName), pod.Spec.RuntimeClassName != nil; has != want {
				t.Errorf("%s in the session's environment: %t, want %t\n%s%s", brg.SessionName, has, want, said(t, c, webhook), said(t, c, daemon))
			}
			if err := c.Remove(t.Context(), pod); err != nil {
				t.Fatal(err)
			}
		}
		if records := said(t, c, webhook); strings.Count(records, `"alice"`) != 2 {
			t.Errorf("the webhook's output does not have both sessions:\n%s", records)
		}
	})
	t.Run("BRG-9 BRG-11 node.uninstall takes the wrapper off, and the configuration is as before", func(t *testing.T) {
		if err := c.Remove(t.Context(), daemon); err != nil {
			t.Fatal(err)
		}
		collect(t, w)
		leaving := podOf(t, c, typed[appsv1.DaemonSet](t, nodeRelease(t, w, true), "DaemonSet", "lanyard-bridge-node").Spec.Template)
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

// servicePort is the Service's port here: nothing leads from it to the pod's, so that it is the same.
const servicePort = 8443

// nodeRelease is the chart for the node, with the Service's port changed.
func nodeRelease(t *testing.T, w *kubernetes.Worker, uninstall bool) bridge.Objects {
	t.Helper()
	runc, err := parts.Find("runc")
	if err == nil {
		runc, err = filepath.EvalSymlinks(runc)
	}
	if err != nil {
		t.Fatal(err)
	}
	objects := render(t, bridge.Release{Values: mapping{
		"image":   mapping{"registry": "localhost"},
		"webhook": mapping{"records": mapping{"stdout": true}},
		"node":    mapping{"uninstall": uninstall, "paths": mapping{"criSocket": w.Socket(), "runtimes": filepath.Dir(runc)}},
	}})
	for _, service := range objects.Only("Service") {
		service.Object["spec"].(map[string]any)["ports"].([]any)[0].(map[string]any)["port"] = int64(servicePort)
	}
	for _, config := range objects.Only("MutatingWebhookConfiguration", "ValidatingWebhookConfiguration") {
		client := config.Object["webhooks"].([]any)[0].(map[string]any)["clientConfig"].(map[string]any)
		client["service"].(map[string]any)["port"] = int64(servicePort)
	}
	return objects
}

// installKeys makes the keys as the chart's notes say.
func installKeys(t *testing.T, c *kubernetes.Cluster) {
	t.Helper()
	program, err := parts.Find("lanyard-bridge")
	if err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(program, "keys", "install", "--namespace", "lanyard", "--kubeconfig", c.Admin().Kubeconfig).CombinedOutput(); err != nil {
		t.Fatalf("keys install: %v: %s", err, out)
	}
}

// leadToService gives the cluster's loopback the address of the webhook's Service, as kube-proxy has it lead somewhere.
func leadToService(t *testing.T, c *kubernetes.Cluster) {
	t.Helper()
	service, err := c.Client().CoreV1().Services("lanyard").Get(t.Context(), "lanyard-bridge-webhook", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Do(func() error {
		socket, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
		if err != nil {
			return err
		}
		defer unix.Close(socket)
		alias, err := unix.NewIfreq("lo:service")
		if err != nil {
			return err
		}
		if err := alias.SetInet4Addr(net.ParseIP(service.Spec.ClusterIP).To4()); err != nil {
			return err
		}
		return unix.IoctlIfreq(socket, unix.SIOCSIFADDR, alias)
	}); err != nil {
		t.Fatal(err)
	}
}

// collect removes what is left of pods, for which the kubelet takes its time.
func collect(t *testing.T, w *kubernetes.Worker) {
	t.Helper()
	runtime, err := bridge.DialCRI(w.Socket())
	if err != nil {
		t.Fatal(err)
	}
	defer runtime.Close()
	left, err := runtime.ListPodSandbox(t.Context(), &runtimeapi.ListPodSandboxRequest{Filter: &runtimeapi.PodSandboxFilter{
		State: &runtimeapi.PodSandboxStateValue{State: runtimeapi.PodSandboxState_SANDBOX_NOTREADY},
	}})
	if err != nil {
		t.Fatal(err)
	}
	for _, pod := range left.GetItems() {
		if _, err := runtime.RemovePodSandbox(t.Context(), &runtimeapi.RemovePodSandboxRequest{PodSandboxId: pod.GetId()}); err != nil {
			t.Fatal(err)
		}
	}
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

// podOf creates the pod that a workload is of.
func podOf(t *testing.T, c *kubernetes.Cluster, template corev1.PodTemplateSpec) *corev1.Pod {
	t.Helper()
	// Nothing here leads to the address of the API server's Service.
	server, err := url.Parse(c.URL())
	if err != nil {
		t.Fatal(err)
	}
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "lanyard", GenerateName: "pod-", Labels: template.Labels}, Spec: template.Spec}
	main := &pod.Spec.Containers[0]
	main.Env = append(main.Env, corev1.EnvVar{Name: "KUBERNETES_SERVICE_HOST", Value: server.Hostname()}, corev1.EnvVar{Name: "KUBERNETES_SERVICE_PORT", Value: server.Port()})
	for _, init := range pod.Spec.InitContainers {
		for i, arg := range init.Args {
			if strings.HasPrefix(arg, "--settle=") {
				init.Args[i] = "--settle=0s" // no token is on its way
			}
		}
	}
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
