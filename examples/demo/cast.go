package demo

import (
	"context"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

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

// permissions are the RBAC objects of the story.
const permissions = `apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: dev}
rules:
- {apiGroups: [""], resources: [pods, events], verbs: [get, list, watch]}
- {apiGroups: [""], resources: [pods/exec], verbs: [get, create]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: dev}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: dev}
subjects: [{apiGroup: rbac.authorization.k8s.io, kind: Group, name: dev}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: node-debugger}
rules:
- {apiGroups: [""], resources: [nodes/proxy], verbs: [get, create]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: node-debuggers}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: node-debugger}
subjects: [{apiGroup: rbac.authorization.k8s.io, kind: Group, name: node-debuggers}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: lister}
rules: [{apiGroups: [""], resources: [nodes/pods], verbs: [get]}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: lister}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: lister}
subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: lister}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: reader}
rules: [{apiGroups: [""], resources: [nodes/proxy], verbs: [get]}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: reader}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: reader}
subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: reader}]
`

// runPod runs the story's pod: one static program, no shell, on that node.
func (s *Stage) runPod(ctx context.Context, name, node string) error {
	image, err := s.Stack.Image("web:v1", testimage.Spec{Config: v1.Config{
		Entrypoint: []string{testimage.Program}, Env: []string{"PATH=/", "LOG_LEVEL=info"},
	}})
	if err != nil {
		return err
	}
	_, err = s.Stack.Admin().CoreV1().Pods(metav1.NamespaceDefault).Create(ctx, &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: corev1.PodSpec{
			NodeName: node, HostNetwork: true,
			Containers: []corev1.Container{{Name: "app", Image: image, Args: []string{"sleep"}}},
		},
	}, metav1.CreateOptions{})
	if err != nil {
		return err
	}
	_, err = s.Stack.AwaitPod(ctx, metav1.NamespaceDefault, name)
	return err
}
