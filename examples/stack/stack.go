package stack

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/lanyard-dev/lanyard/examples/ca"
	"github.com/lanyard-dev/lanyard/examples/stack/process"
	"github.com/lanyard-dev/lanyard/examples/testimage"
)

// Options say what the cluster is like. Dir is needed; the zero value of the rest is
// an API server without nodes, its gates at their defaults.
type Options struct {
	// Dir holds everything that the stack writes; it must exist.
	Dir string
	// Nodes are started in this order.
	Nodes []Node
	// ExecGates turns ExecEnvVar on at the kubelets, and with it ExecRequestID at the API server.
	ExecGates bool
	// APIServerFlags come after the stack's own.
	APIServerFlags []string
	// Manifests are YAML files whose objects the API server creates whenever it starts.
	Manifests []string
}

// Names that certificates carry.
const (
	// Admin is a user who may do everything.
	Admin = "admin"
	// kubeletClientUser is the API server as kubelets see it.
	kubeletClientUser = "kube-apiserver-kubelet-client"
)

// Stack is a running cluster. Its methods are for one goroutine, but for those that
// only name things.
type Stack struct {
	options       Options
	authority     *ca.Authority
	authorityFile string
	address       string
	apiserver     *process.Process
	registry      *testimage.Registry
	nodes         []*runningNode
	admin         *kubernetes.Clientset
	adminFile     string
}

type imageFunc func() (v1.Image, error)

// Start starts the cluster and returns when every node is ready. On an error
// nothing is left running.
func Start(ctx context.Context, o Options) (_ *Stack, err error) {
	s := &Stack{options: o, registry: testimage.NewRegistry()}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.Stop())
		}
	}()
	if err := os.MkdirAll(filepath.Join(o.Dir, "users"), 0o755); err != nil {
		return nil, err
	}
	if s.authority, err = ca.New("lanyard"); err != nil {
		return nil, err
	}
	s.authorityFile = filepath.Join(o.Dir, "ca.crt")
	if err := os.WriteFile(s.authorityFile, s.authority.PEM(), 0o644); err != nil {
		return nil, err
	}
	if err := s.startAPIServer(ctx); err != nil {
		return nil, err
	}
	for _, n := range o.Nodes {
		node, err := s.startNode(ctx, n)
		s.nodes = append(s.nodes, node)
		if err != nil {
			return nil, err
		}
	}
	for _, n := range o.Nodes {
		if err := s.AwaitNode(ctx, n.Name); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// URL is the API server's.
func (s *Stack) URL() string { return "https://" + s.address }

// Admin is a client that may do everything; AdminFile is its kubeconfig.
func (s *Stack) Admin() *kubernetes.Clientset { return s.admin }

// AdminFile is the kubeconfig of a user who may do everything.
func (s *Stack) AdminFile() string { return s.adminFile }

// AuditLog is the path of the API server's audit log.
func (s *Stack) AuditLog() string { return filepath.Join(s.options.Dir, "audit.log") }

// Journal is the path of the exec journal of a node under our runtime.
func (s *Stack) Journal(node string) string {
	return filepath.Join(s.options.Dir, node, "runtime", "exec-journal.jsonl")
}

// Registry serves the stack's images.
func (s *Stack) Registry() *testimage.Registry { return s.registry }

// Stop removes the pods, so that their containers end in order, and then ends every
// component. It leaves the directory.
func (s *Stack) Stop() error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	var errs []error
	if s.admin != nil && s.apiserver.Alive() && len(s.nodes) > 0 {
		errs = append(errs, s.removePods(ctx))
	}
	for _, n := range s.nodes {
		errs = append(errs, n.stop())
	}
	if s.apiserver != nil && !s.apiserver.Stop(stopGrace) {
		errs = append(errs, fmt.Errorf("the API server did not stop within %v", stopGrace))
	}
	s.registry.Close()
	return errors.Join(errs...)
}

func (s *Stack) removePods(ctx context.Context) error {
	soon := int64(1)
	namespaces, err := s.admin.CoreV1().Namespaces().List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	for _, ns := range namespaces.Items {
		pods, err := s.admin.CoreV1().Pods(ns.Name).List(ctx, metav1.ListOptions{})
		if err != nil {
			return err
		}
		for _, pod := range pods.Items {
			err := s.admin.CoreV1().Pods(ns.Name).Delete(ctx, pod.Name, metav1.DeleteOptions{GracePeriodSeconds: &soon})
			if err != nil && !apierrors.IsNotFound(err) {
				return err
			}
		}
	}
	err = poll(ctx, "pods to end", func() (bool, error) {
		pods, err := s.admin.CoreV1().Pods(metav1.NamespaceAll).List(ctx, metav1.ListOptions{})
		return err == nil && len(pods.Items) == 0, err
	})
	for _, n := range s.nodes {
		err = errors.Join(err, n.awaitEmpty(ctx))
	}
	return err
}

// AwaitNode waits until the node is ready.
func (s *Stack) AwaitNode(ctx context.Context, name string) error {
	return poll(ctx, "node "+name+" to be ready", func() (bool, error) {
		node, err := s.admin.CoreV1().Nodes().Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return false, err
		}
		for _, c := range node.Status.Conditions {
			if c.Type == corev1.NodeReady {
				return c.Status == corev1.ConditionTrue, errors.New(c.Message)
			}
		}
		return false, errors.New("no condition yet")
	})
}

// AwaitPod waits until the pod is ready, or has come to an end that readiness will
// not follow, and returns it.
func (s *Stack) AwaitPod(ctx context.Context, namespace, name string) (*corev1.Pod, error) {
	var last *corev1.Pod
	err := poll(ctx, "pod "+namespace+"/"+name, func() (bool, error) {
		pod, err := s.admin.CoreV1().Pods(namespace).Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return false, err
		}
		last = pod
		if pod.Status.Phase == corev1.PodFailed || pod.Status.Phase == corev1.PodSucceeded {
			return true, nil
		}
		for _, c := range pod.Status.Conditions {
			if c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue {
				return true, nil
			}
		}
		return false, fmt.Errorf("phase %s: %s", pod.Status.Phase, waitingFor(pod))
	})
	return last, err
}

func waitingFor(pod *corev1.Pod) string {
	for _, c := range pod.Status.ContainerStatuses {
		if w := c.State.Waiting; w != nil {
			return c.Name + ": " + w.Reason + ": " + w.Message
		}
	}
	return pod.Status.Message
}

// NodeOf returns the node that a pod of the default namespace is bound to, "" for a
// pod that is not there.
func (s *Stack) NodeOf(pod string) string {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	p, err := s.admin.CoreV1().Pods(metav1.NamespaceDefault).Get(ctx, pod, metav1.GetOptions{})
	if err != nil {
		return ""
	}
	return p.Spec.NodeName
}

// patience bounds every wait that its caller does not.
const patience = 30 * time.Second

// poll asks until done; the error of an impatient end says what was awaited and why
// it was not so.
func poll(ctx context.Context, what string, done func() (bool, error)) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for {
		ok, err := done()
		if ok {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("waiting for %s: %w", what, errors.Join(ctx.Err(), err))
		case <-time.After(50 * time.Millisecond):
		}
	}
}
