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
	"strconv"
	"strings"
	"testing"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"golang.org/x/sys/unix"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/lanyard-dev/lanyard/examples/bridge"
	"github.com/lanyard-dev/lanyard/examples/kubernetes"
	"github.com/lanyard-dev/lanyard/examples/parts"
	"github.com/lanyard-dev/lanyard/examples/testimage"
)

// nodeImage is the chart's image under the registry that the tests name.
const nodeImage = "localhost/lanyard-dev/lanyard-bridge:v0.1.0"

// servicePort is the Service's port here: nothing leads from it to the pod's, so that it is the same.
const servicePort = 8443

// nodeRelease is the chart for the node, with the Service's port changed.
func nodeRelease(t *testing.T, w *kubernetes.Worker, node mapping) bridge.Objects {
	t.Helper()
	runc, err := parts.Find("runc")
	if err == nil {
		runc, err = filepath.EvalSymlinks(runc)
	}
	if err != nil {
		t.Fatal(err)
	}
	node["paths"] = mapping{"criSocket": w.Socket(), "runtimes": filepath.Dir(runc)}
	objects := render(t, bridge.Release{Values: mapping{
		"image":   mapping{"registry": "localhost"},
		"webhook": mapping{"records": mapping{"stdout": true}},
		"node":    node,
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
	if out, err := exec.Command(program, "keys", "install", "--namespace", bridge.Namespace, "--kubeconfig", c.Admin().Kubeconfig).CombinedOutput(); err != nil {
		t.Fatalf("keys install: %v: %s", err, out)
	}
}

// leadToService gives the cluster's loopback the address of the webhook's Service, as kube-proxy has it lead somewhere.
func leadToService(t *testing.T, c *kubernetes.Cluster) {
	t.Helper()
	service, err := c.Client().CoreV1().Services(bridge.Namespace).Get(t.Context(), "lanyard-bridge-webhook", metav1.GetOptions{})
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

// programsImage is an image of the three programs, as the chart's Dockerfile makes it.
func programsImage(t *testing.T) v1.Image {
	t.Helper()
	var entries []testimage.Entry
	for _, name := range []string{"lanyard-bridge", "lanyard-oci", "execaudit-agent"} {
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
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: bridge.Namespace, GenerateName: "pod-", Labels: template.Labels}, Spec: template.Spec}
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

// once runs the init container of a pod alone, to its end. The mounts of process 1, which it would enter, are the
// machine's here; the node's are containerd's.
func once(t *testing.T, c *kubernetes.Cluster, w *kubernetes.Worker, spec corev1.PodSpec) {
	t.Helper()
	main := spec.InitContainers[0]
	main.Args = append(main.Args, "--mount-namespace="+strconv.Itoa(runtimePID(t, w)))
	for i, arg := range main.Args {
		if strings.HasPrefix(arg, "--settle=") {
			main.Args[i] = "--settle=0s"
		}
	}
	spec.InitContainers, spec.Containers, spec.Volumes, spec.RestartPolicy = nil, []corev1.Container{main}, nil, corev1.RestartPolicyNever
	pod, err := c.Create(t.Context(), &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: bridge.Namespace, GenerateName: "once-"}, Spec: spec})
	if err != nil {
		t.Fatal(err)
	}
	var phase corev1.PodPhase
	chartSoon(t, "the end of "+main.Name, func() bool {
		now, err := c.Client().CoreV1().Pods(pod.Namespace).Get(t.Context(), pod.Name, metav1.GetOptions{})
		phase = now.Status.Phase
		return err == nil && (phase == corev1.PodSucceeded || phase == corev1.PodFailed)
	})
	if phase != corev1.PodSucceeded {
		t.Error(phase, said(t, c, pod))
	}
}

// runtimePID is the process that answers at the node's CRI socket.
func runtimePID(t *testing.T, w *kubernetes.Worker) int {
	t.Helper()
	conn, err := net.Dial("unix", w.Socket())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	raw, err := conn.(*net.UnixConn).SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	var who *unix.Ucred
	if controlled := raw.Control(func(fd uintptr) { who, err = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED) }); controlled != nil || err != nil {
		t.Fatal(controlled, err)
	}
	return int(who.Pid)
}

// mountsOf are the mounts that the node's runtime sees.
func mountsOf(t *testing.T, w *kubernetes.Worker) string {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/mountinfo", runtimePID(t, w)))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
