package stack

import (
	"context"
	"fmt"

	"github.com/lanyard-dev/lanyard/examples/kubelet"
	"github.com/lanyard-dev/lanyard/examples/stack/process"
)

// APIServer is the API server's process. Started again it has the objects of its
// manifests and no others.
func (s *Stack) APIServer() *process.Process { return s.apiserver }

// Kubelet is the process of a node's kubelet, nil for a node that is not there.
func (s *Stack) Kubelet(node string) *process.Process {
	if n := s.node(node); n != nil {
		return n.kubelet
	}
	return nil
}

// Runtime is the process of a node's runtime, nil on containerd.
func (s *Stack) Runtime(node string) *process.Process {
	if n := s.node(node); n != nil {
		return n.runtime
	}
	return nil
}

// RuntimeSocket is the path of a node's CRI socket.
func (s *Stack) RuntimeSocket(node string) string {
	if n := s.node(node); n != nil {
		return n.socket
	}
	return ""
}

func (s *Stack) node(name string) *runningNode {
	for _, n := range s.nodes {
		if n.Name == name {
			return n
		}
	}
	return nil
}

// ReplaceKubelet starts another kubelet for the node, configured anew on an address
// of its own, and returns the one before, which still runs: a rolling replacement.
// The caller stops it.
func (s *Stack) ReplaceKubelet(ctx context.Context, node string, configure func(*kubelet.Config)) (*process.Process, error) {
	n := s.node(node)
	if n == nil {
		return nil, fmt.Errorf("no node %q", node)
	}
	before := n.kubelet
	address, err := freePort()
	if err != nil {
		return nil, err
	}
	n.config.Address = address
	configure(&n.config)
	return before, n.startKubelet(ctx)
}

// RestartKubelet stops the node's kubelet and starts it configured anew on its
// address.
func (s *Stack) RestartKubelet(ctx context.Context, node string, configure func(*kubelet.Config)) error {
	n := s.node(node)
	if n == nil {
		return fmt.Errorf("no node %q", node)
	}
	n.kubelet.Stop(stopGrace)
	configure(&n.config)
	return n.startKubelet(ctx)
}

// RestartAPIServer stops the API server and starts it again with further flags.
func (s *Stack) RestartAPIServer(ctx context.Context, flags ...string) error {
	s.apiserver.Stop(stopGrace)
	s.options.APIServerFlags = flags
	return s.launchAPIServer(ctx)
}
