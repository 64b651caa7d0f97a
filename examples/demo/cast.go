package demo

import (
	"context"
	"fmt"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/lanyard-dev/lanyard/examples/stack"
	"github.com/lanyard-dev/lanyard/examples/testimage"
)

// person is somebody in the story.
type person struct {
	name   string
	groups []string
	may    string
}

func people() []person {
	return []person{
		{"alice", []string{"dev"}, "may exec into pods"},
		{"bob", []string{"dev"}, "may exec into pods"},
		{"mallory", []string{"dev", "node-debuggers"}, "may exec, and may use nodes/proxy"},
		{"lister", nil, "may get nodes/pods"},
		{"reader", nil, "may get nodes/proxy"},
		{"admin", []string{"system:masters"}, "may do everything"},
	}
}

// permissions are the RBAC objects of the story, as one YAML file.
func permissions() string {
	return strings.Join([]string{
		role("dev", "Group",
			`{apiGroups: [""], resources: [pods, events], verbs: [get, list, watch]}`,
			`{apiGroups: [""], resources: [pods/exec], verbs: [get, create]}`),
		role("node-debuggers", "Group", `{apiGroups: [""], resources: [nodes/proxy], verbs: [get, create]}`),
		role("lister", "User", `{apiGroups: [""], resources: [nodes/pods], verbs: [get]}`),
		role("reader", "User", `{apiGroups: [""], resources: [nodes/proxy], verbs: [get]}`),
		stack.PrivateAccess,
	}, "---\n")
}

// role is a ClusterRole of those rules, bound to the user or group of its name.
func role(name, kind string, rules ...string) string {
	return fmt.Sprintf(`apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: %[1]s}
rules: [%[3]s]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: %[1]s}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: %[1]s}
subjects: [{apiGroup: rbac.authorization.k8s.io, kind: %[2]s, name: %[1]s}]
`, name, kind, strings.Join(rules, ", "))
}

// runPod runs the story's pod: one static program, no shell, on that node.
func (s *Stage) runPod(ctx context.Context, name, node string) error {
	image, err := s.Stack.Image("web:v1", testimage.Spec{Config: v1.Config{
		Entrypoint: []string{testimage.Program}, Env: []string{"PATH=/", "LOG_LEVEL=info"},
	}})
	if err != nil {
		return err
	}
	return s.runReady(ctx, name, corev1.PodSpec{
		NodeName:   node,
		Containers: []corev1.Container{{Name: "app", Image: image, Args: []string{"sleep"}}},
	})
}

// runReady creates a pod and waits until it is ready.
func (s *Stage) runReady(ctx context.Context, name string, spec corev1.PodSpec) error {
	if err := s.create(ctx, name, spec); err != nil {
		return err
	}
	_, err := s.Stack.AwaitPod(ctx, metav1.NamespaceDefault, name)
	return err
}

// create creates a pod, on the host's network because the story's nodes have no other.
func (s *Stage) create(ctx context.Context, name string, spec corev1.PodSpec) error {
	spec.HostNetwork = true
	_, err := s.Stack.Admin().CoreV1().Pods(metav1.NamespaceDefault).Create(ctx,
		&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: spec}, metav1.CreateOptions{})
	return err
}
