package kubernetes

import (
	kubeletconfig "k8s.io/kubelet/config/v1beta1"

	"github.com/lanyard-dev/lanyard/examples/containerdrig"
	"github.com/lanyard-dev/lanyard/examples/kubelet"
)

// Options say what a cluster is like. The zero value is one node, [DefaultNode], without a controller manager.
type Options struct {
	// Dir holds everything that the cluster writes. It must exist, and its path be short: sockets are in it. The caller
	// removes it. If empty, a new one is made, which Stop removes.
	Dir string
	// Nodes are started side by side; nil is one node, an empty slice none.
	Nodes []Node
	// ControllerManager starts the controller manager.
	ControllerManager bool
	// Reference runs the reference API server, lanyard-apiserver, in the place of etcd and kube-apiserver.
	Reference bool
	// AuditPolicy is the audit policy, YAML; if empty, [DefaultAuditPolicy].
	AuditPolicy string
	// APIServer changes the API server's command line before it starts; nil leaves it.
	APIServer func(*Command)
	// Controllers changes the controller manager's.
	Controllers func(*Command)
}

// Node says what one node is like.
type Node struct {
	// Name is the node's name; if empty, [DefaultNode].
	Name string
	// Containerd changes what is run as containerd, its shim and its low-level runtime; nil leaves it.
	Containerd func(*containerdrig.Config)
	// Config changes the kubelet's configuration; nil leaves it.
	Config func(*kubeletconfig.KubeletConfiguration)
	// Reference runs the reference kubelet, lanyard-kubelet, in the place of the real one, and may change its
	// configuration; Config does not count then. Nil runs the real one.
	Reference func(*kubelet.Config)
	// Kubelet changes the kubelet's command line before it starts; nil leaves it.
	Kubelet func(*Command)
	// Private are directories, absolute, that programs on the node have to themselves, empty at first: see
	// [Worker.Private].
	Private []string
}

// DefaultNode is the name of a node that is given none.
const DefaultNode = "n1"

// DefaultAuditPolicy records every session with its options, what kubelets ask about their callers, nothing else that
// nodes do, and the rest briefly.
const DefaultAuditPolicy = `apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
- level: Request
  resources:
  - group: ""
    resources: ["pods/exec", "pods/attach", "pods/portforward", "pods/ephemeralcontainers", "nodes/proxy"]
- level: Request
  userGroups: ["system:nodes"]
  resources:
  - group: "authorization.k8s.io"
    resources: ["subjectaccessreviews"]
- level: None
  userGroups: ["system:nodes"]
- level: None
  users: ["system:apiserver"]
- level: None
  nonResourceURLs: ["/healthz*", "/livez*", "/readyz*", "/version", "/openapi*"]
- level: Metadata
`
