package kubernetes_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kubeletconfig "k8s.io/kubelet/config/v1beta1"

	"github.com/lanyard-dev/lanyard/examples/containerdrig"
	"github.com/lanyard-dev/lanyard/examples/kubernetes"
	"github.com/lanyard-dev/lanyard/examples/parts"
)

// settings are what a kubelet changes on a machine that is its own.
func settings(t *testing.T) (out string) {
	t.Helper()
	for _, name := range []string{"vm/overcommit_memory", "vm/panic_on_oom", "kernel/panic", "kernel/panic_on_oops"} {
		value, err := os.ReadFile(filepath.Join("/proc/sys", name))
		if err != nil {
			t.Fatal(err)
		}
		out += fmt.Sprintf("%s=%s", name, value)
	}
	for _, path := range []string{"/var/lib/kubelet", "/var/log/containers", "/var/log/pods"} {
		_, err := os.Stat(path)
		out += fmt.Sprintln(path, err == nil)
	}
	return out
}

// place is what can be looked for when a cluster is gone.
type place struct {
	Dir        string
	Namespaces []string // as /proc/PID/ns has them
	Containers []string
}

func placeOf(t *testing.T, c *kubernetes.Cluster, pods ...*corev1.Pod) place {
	t.Helper()
	p := place{Dir: c.Dir()}
	look := func() error {
		for _, kind := range []string{"net", "mnt"} {
			here, err := os.Readlink("/proc/self/ns/" + kind)
			if err != nil {
				return err
			}
			there, err := os.Readlink("/proc/thread-self/ns/" + kind)
			if err != nil {
				return err
			}
			if here != there {
				p.Namespaces = append(p.Namespaces, there)
			}
		}
		return nil
	}
	if err := c.Do(look); err != nil {
		t.Fatal(err)
	}
	if node := c.Node(""); node != nil {
		if err := node.Do(look); err != nil {
			t.Fatal(err)
		}
	}
	if len(p.Namespaces) == 0 {
		t.Fatal("the cluster has no namespace of its own")
	}
	for _, pod := range pods {
		for _, s := range pod.Status.ContainerStatuses {
			p.Containers = append(p.Containers, strings.TrimPrefix(s.ContainerID, "containerd://"))
		}
	}
	tasks, err := filepath.Glob(filepath.Join(c.Dir(), "*/containerd/state/io.containerd.runtime.v2.task/k8s.io/*"))
	if err != nil || len(tasks) < 2*len(pods) {
		t.Fatalf("containers and sandboxes of %d pods: %v, %v", len(pods), tasks, err)
	}
	for _, task := range tasks {
		p.Containers = append(p.Containers, filepath.Base(task))
	}
	return p
}

// gone checks that nothing of the cluster is left.
func (p place) gone(t *testing.T) {
	t.Helper()
	for _, what := range p.left() {
		t.Error(what)
	}
}

// left says what is left of the cluster: process, namespace, mount, cgroup, file.
func (p place) left() (out []string) {
	// The kernel gives the number of a namespace that is gone to the next one, which may be that of a container beside
	// us. So others' mount namespaces are known by what is mounted there.
	links, _ := filepath.Glob("/proc/[0-9]*/ns/net")
	open, _ := filepath.Glob("/proc/[0-9]*/fd/*")
	own := fmt.Sprintf("/proc/%d/", os.Getpid())
	for _, file := range append(links, open...) {
		link, _ := os.Readlink(file)
		if slices.Contains(p.Namespaces, link) && (strings.HasPrefix(file, own) || strings.HasPrefix(link, "net:")) {
			out = append(out, fmt.Sprintf("%s is still %s", file, link))
		}
	}
	commands, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	mounts, _ := filepath.Glob("/proc/[0-9]*/mountinfo")
	for _, file := range append(commands, mounts...) {
		text, _ := os.ReadFile(file)
		if bytes.Contains(text, []byte(p.Dir)) {
			out = append(out, fmt.Sprintf("%s still has the cluster's directory: %q", file, text))
		}
	}
	for _, id := range p.Containers {
		if left, _ := filepath.Glob("/sys/fs/cgroup/*/k8s.io/" + id); len(left) > 0 {
			out = append(out, fmt.Sprintf("cgroups left: %v", left))
		}
	}
	if _, err := os.Stat(p.Dir); !os.IsNotExist(err) {
		out = append(out, fmt.Sprintf("%s is still there: %v", p.Dir, err))
	}
	return out
}

func TestStop(t *testing.T) {
	kubernetes.Need(t, "kube-controller-manager")
	for _, round := range []string{"STK-13 stop leaves nothing", "STK-13 a second cluster right after the first, with two nodes and controllers"} {
		t.Run(round, func(t *testing.T) {
			before := settings(t)
			o := kubernetes.Options{}
			if strings.Contains(round, "second") {
				o = kubernetes.Options{Nodes: []kubernetes.Node{{Name: "n1"}, {Name: "n2"}}, ControllerManager: true}
			}
			c := kubernetes.Own(t, o)
			var pods []*corev1.Pod
			for i := range max(1, len(o.Nodes)) {
				pod := &corev1.Pod{Spec: corev1.PodSpec{NodeName: fmt.Sprintf("n%d", i+1)}}
				running, err := c.Run(t.Context(), pod)
				if err != nil || running.Status.Phase != corev1.PodRunning {
					t.Fatalf("Run(…) = %+v, %v", running, err)
				}
				pods = append(pods, running)
			}
			if o.ControllerManager {
				controlled(t, c)
			}
			stray := exec.Command(parts.Need(t, "lanyard-reporter")[0], "ignore")
			if err := c.Launch(stray); err != nil {
				t.Fatal(err)
			}
			reaped := make(chan error, 1)
			go func() { reaped <- stray.Wait() }()
			p := placeOf(t, c, pods...)
			if err := c.Stop(); err != nil {
				t.Fatal(err)
			}
			<-reaped
			p.gone(t)
			if after := settings(t); after != before {
				t.Errorf("the machine was changed from\n%sto\n%s", before, after)
			}
		})
	}
}

// controlled checks that the controllers work: a new namespace gets its service account.
func controlled(t *testing.T, c *kubernetes.Cluster) {
	t.Helper()
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "controlled"}}
	if _, err := c.Client().CoreV1().Namespaces().Create(t.Context(), namespace, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := kubernetes.Await(t.Context(), "the default service account", func(ctx context.Context) (bool, error) {
		_, err := c.Client().CoreV1().ServiceAccounts("controlled").Get(ctx, "default", metav1.GetOptions{})
		return err == nil, err
	}); err != nil {
		t.Error(err)
	}
}

func TestBrokenComponents(t *testing.T) {
	kubernetes.Need(t)
	t.Run("STK-13 stop leaves nothing where components were killed", func(t *testing.T) {
		c := kubernetes.Own(t, kubernetes.Options{})
		pod, err := c.Run(t.Context(), &corev1.Pod{})
		if err != nil {
			t.Fatal(err)
		}
		p := placeOf(t, c, pod)
		c.APIServer().Kill()
		c.Node("").Kubelet().Kill()
		c.Node("").KillContainerd()
		if err := c.Stop(); err != nil {
			t.Fatal(err)
		}
		p.gone(t)
	})
}

func TestStartFailure(t *testing.T) {
	kubernetes.Need(t)
	before := settings(t)
	for name, o := range map[string]kubernetes.Options{
		"STK-13 an API server that does not start leaves nothing": {
			APIServer: func(c *kubernetes.Command) { c.Set("secure-port", "none") },
		},
		"STK-13 a containerd that does not start leaves nothing": {
			Nodes: []kubernetes.Node{{Containerd: func(c *containerdrig.Config) { c.Containerd = "/none" }}},
		},
		"STK-13 a kubelet that does not start leaves nothing": {
			Nodes: []kubernetes.Node{{Config: func(c *kubeletconfig.KubeletConfiguration) { c.FeatureGates = map[string]bool{"none": true} }}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			o.Dir = newDir(t)
			p := place{Dir: o.Dir}
			c, err := kubernetes.Start(t.Context(), o)
			if err == nil {
				t.Fatal("Start(…) = nil, want an error", c.Stop())
			}
			if !strings.Contains(err.Error(), "none") {
				t.Errorf("Start(…) = %v, want the component's own words", err)
			}
			if err := os.RemoveAll(o.Dir); err != nil {
				t.Fatal(err)
			}
			p.gone(t)
			if after := settings(t); after != before {
				t.Errorf("the machine was changed from\n%sto\n%s", before, after)
			}
		})
	}
}

// newDir is a directory with a short path.
func newDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "lanyard-k8s-")
	if err != nil {
		t.Fatal(err)
	}
	return dir
}
