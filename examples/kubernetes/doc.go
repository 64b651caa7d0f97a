// Package kubernetes runs a real Kubernetes on this machine, unmodified: etcd, kube-apiserver, kube-controller-manager
// where it is wanted, and nodes of a kubelet on containerd. It needs root, and the programs that `make
// kubernetes-parts` builds.
//
//	c, err := kubernetes.Start(ctx, kubernetes.Options{})
//	…
//	defer c.Stop()
//	pod, err := c.Run(ctx, &corev1.Pod{})
//	result, err := c.Admin().Exec(ctx, kubernetes.Session{Pod: pod.Name, Command: []string{"/reporter"}})
//
// Many tests share one cluster by [Shared].
//
// # Networks
//
// The cluster has a network namespace of its own, with nothing but loopback and an address for each node. What the
// caller needs of it is at the same loopback address and port on both sides: the API server's URL, the kubelets', and
// with [Cluster.Expose] what the caller serves itself. So one kubeconfig goes for clients in this process, for kubectl
// beside it, and for programs inside ([Cluster.Launch]).
//
// # Nodes
//
// There is no CNI, so that nodes stay NotReady, and pods are on the network of their node, bound to it by name;
// [Cluster.Run] sees to that. Each node has a mount namespace, which takes with it what its programs mount, and which
// hides from them the few paths and kernel settings outside their own directories that they would write.
//
// # Other programs in the place of the real ones
//
// Every program's command line can be changed before it starts ([Options], [Node]), and [New] makes a cluster without
// any, whose parts the caller starts: [Cluster.StartEtcd], [Cluster.StartAPIServer], [Cluster.AddNode],
// [Worker.StartContainerd], [Worker.StartKubelet].
package kubernetes
