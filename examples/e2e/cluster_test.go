// Package e2e_test runs the end-to-end lists of the KEPs on the reference stack:
// real processes, real containers, the real kubectl.
package e2e_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/lanyard-dev/lanyard/examples/kubelet"
	"github.com/lanyard-dev/lanyard/examples/parts"
	"github.com/lanyard-dev/lanyard/examples/stack"
	"github.com/lanyard-dev/lanyard/examples/testimage"
	"github.com/lanyard-dev/lanyard/examples/testimage/report"
)

// needed are the programs that a stack is made of.
var needed = []string{
	"runc", "lanyard-runtime", "lanyard-monitor", "lanyard-reporter", "lanyard-kubelet", "lanyard-apiserver",
	"kubectl", "kubectl-exec_env", "containerd", "containerd-shim-runc-v2", "ctr", "containerd-envs",
}

// The nodes of the shared cluster.
const (
	ours           = "ours"            // gates on, the reference runtime
	old            = "old"             // gates on, a runtime without ExecRequest.envs
	containerd     = "containerd"      // gates on, a real containerd
	containerdEnvs = "containerd-envs" // gates on, a real containerd with our modules
	gateOff        = "gate-off"        // a kubelet that ignores env
	strict         = "strict"          // an old runtime, and --require-exec-env-support
)

// cluster is a stack with a pod on each node, named after it.
type cluster struct {
	*stack.Stack
	dir   string
	alice string
	bob   string
}

var shared struct {
	once    sync.Once
	cluster *cluster
	err     error
}

// Tests that break things, or need other nodes, have a cluster of their own and run side by side.
//
// TestMain stops the shared cluster, and fails when that leaves something.
func TestMain(m *testing.M) {
	code := m.Run()
	if c := shared.cluster; c != nil {
		err := errors.Join(c.Stop(), left(c.dir), os.RemoveAll(c.dir))
		if err != nil {
			fmt.Fprintln(os.Stderr, "the shared cluster did not stop clean:", err)
			code = 1
		}
	}
	os.Exit(code)
}

// common returns the cluster that tests share; they may add to it, not break it.
func common(t *testing.T) *cluster {
	t.Helper()
	parts.Need(t, needed...)
	shared.once.Do(func() {
		dir, err := os.MkdirTemp("", "lanyard-e2e-")
		if err != nil {
			shared.err = err
			return
		}
		shared.cluster, shared.err = startShared(dir)
	})
	if shared.err != nil {
		t.Fatal(shared.err)
	}
	return shared.cluster
}

func startShared(dir string) (*cluster, error) {
	c, err := startCluster(dir, stack.Options{
		ExecGates: true,
		Nodes: []stack.Node{
			{Name: ours},
			{Name: old, Runtime: stack.OldLanyard},
			{Name: containerd, Runtime: stack.Containerd},
			{Name: containerdEnvs, Runtime: stack.ContainerdEnvs},
			{Name: gateOff, Configure: func(c *kubelet.Config) { delete(c.FeatureGates, "ExecEnvVar") }},
			{Name: strict, Runtime: stack.OldLanyard, Configure: func(c *kubelet.Config) { c.RequireExecEnvSupport = true }},
		},
	})
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	for _, node := range []string{ours, old, containerd, containerdEnvs, gateOff, strict} {
		if _, err := c.run(ctx, pod(node, node)); err != nil {
			return c, err
		}
	}
	return c, nil
}

// own starts a cluster for one test, with a pod on each node, and checks that it
// leaves nothing.
func own(t *testing.T, o stack.Options) *cluster {
	t.Helper()
	c := ownWithoutPods(t, o)
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	for _, n := range o.Nodes {
		if _, err := c.run(ctx, pod(n.Name, n.Name)); err != nil {
			t.Fatal(err)
		}
	}
	return c
}

func ownWithoutPods(t *testing.T, o stack.Options) *cluster {
	t.Helper()
	parts.Need(t, needed...)
	// Sockets have short names, which a test's own directory does not.
	dir, err := os.MkdirTemp("", "lanyard-e2e-")
	if err != nil {
		t.Fatal(err)
	}
	c, err := startCluster(dir, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(c.Stop(), left(dir), os.RemoveAll(dir)); err != nil {
			t.Errorf("the cluster did not stop clean: %v", err)
		}
	})
	return c
}

const developers = `apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: dev}
rules:
- {apiGroups: [""], resources: [pods, events], verbs: [get, list, watch]}
- {apiGroups: [""], resources: [pods/exec, pods/attach, pods/portforward, pods/log], verbs: [get, create]}
- {apiGroups: [""], resources: [nodes/proxy], verbs: [get, create]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: dev}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: dev}
subjects: [{apiGroup: rbac.authorization.k8s.io, kind: Group, name: dev}]
`

func startCluster(dir string, o stack.Options) (_ *cluster, err error) {
	o.Dir = dir
	roles := filepath.Join(dir, "developers.yaml")
	if err := os.WriteFile(roles, []byte(developers), 0o644); err != nil {
		return nil, err
	}
	o.Manifests = append(o.Manifests, roles)
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	s, err := stack.Start(ctx, o)
	if err != nil {
		return nil, err
	}
	c := &cluster{Stack: s, dir: dir}
	if c.alice, err = s.User("alice", "dev"); err == nil {
		c.bob, err = s.User("bob", "dev")
	}
	if err != nil {
		return nil, errors.Join(err, s.Stop())
	}
	return c, nil
}

// pod is a pod on a node that sleeps in an image of one static program.
func pod(name, node string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: corev1.PodSpec{
			NodeName: node, HostNetwork: true,
			Containers: []corev1.Container{{Name: "app", Args: []string{"sleep"}}},
		},
	}
}

// run creates the pod in the default namespace, with the cluster's image where it
// names none, and waits until it is ready or over.
func (c *cluster) run(ctx context.Context, p *corev1.Pod) (*corev1.Pod, error) {
	image, err := c.Image("app:v1", testimage.Spec{Config: v1.Config{
		Entrypoint: []string{testimage.Program}, Env: []string{"PATH=/", "LOG_LEVEL=info"},
	}})
	if err != nil {
		return nil, err
	}
	for i := range p.Spec.Containers {
		if p.Spec.Containers[i].Image == "" {
			p.Spec.Containers[i].Image = image
		}
	}
	if _, err := c.Admin().CoreV1().Pods(metav1.NamespaceDefault).Create(ctx, p, metav1.CreateOptions{}); err != nil {
		return nil, err
	}
	return c.AwaitPod(ctx, metav1.NamespaceDefault, p.Name)
}

// left returns what processes and mounts of a stack in dir are still there.
func left(dir string) error {
	var errs []error
	mounts, err := os.ReadFile("/proc/self/mounts")
	if err != nil {
		return err
	}
	for line := range strings.Lines(string(mounts)) {
		if strings.Contains(line, dir) {
			errs = append(errs, fmt.Errorf("mount left: %s", strings.Fields(line)[1]))
		}
	}
	commands, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		return err
	}
	for _, file := range commands {
		if command, err := os.ReadFile(file); err == nil && bytes.Contains(command, []byte(dir)) {
			errs = append(errs, fmt.Errorf("process left: %s", bytes.ReplaceAll(command, []byte{0}, []byte{' '})))
		}
	}
	return errors.Join(errs...)
}

// result is what a command printed and how it ended.
type result struct {
	out, err string
	code     int
}

// kubectl runs the real kubectl with a kubeconfig.
func kubectl(t *testing.T, kubeconfig string, args ...string) result {
	t.Helper()
	program := parts.Need(t, "kubectl")[0]
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Env = append(os.Environ(), "KUBECONFIG="+kubeconfig, "PATH="+filepath.Dir(program)+":"+os.Getenv("PATH"))
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil && cmd.ProcessState == nil {
		t.Fatal(err)
	}
	return result{out.String(), errs.String(), cmd.ProcessState.ExitCode()}
}

// reported runs kubectl and reads the reporter's answer.
func reported(t *testing.T, kubeconfig string, args ...string) report.Report {
	t.Helper()
	got := kubectl(t, kubeconfig, args...)
	var r report.Report
	if err := json.Unmarshal([]byte(got.out), &r); err != nil {
		t.Fatalf("kubectl %s: exit %d: %s%s", strings.Join(args, " "), got.code, got.out, got.err)
	}
	return r
}

// values returns every value that a variable has in a report.
func values(r report.Report, name string) []string {
	var out []string
	for _, e := range r.Env {
		if e.Name == name {
			out = append(out, string(e.Value))
		}
	}
	return out
}

// value returns the variable's only value, "" where it is not set.
func value(t *testing.T, r report.Report, name string) string {
	t.Helper()
	all := values(r, name)
	if len(all) > 1 {
		t.Fatalf("%s is set %d times", name, len(all))
	}
	return strings.Join(all, "")
}
