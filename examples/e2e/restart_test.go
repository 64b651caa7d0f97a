package e2e_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
	"sigs.k8s.io/yaml"

	"github.com/lanyard-dev/lanyard/examples/soak"
	"github.com/lanyard-dev/lanyard/examples/stack"
	"github.com/lanyard-dev/lanyard/examples/stack/process"
	"github.com/lanyard-dev/lanyard/execaudit"
)

// openSessions is how many sessions are open when something is killed.
var openSessions = soak.Size(10, 50)

// TestKilledComponents kills each component, and each two of them, under open
// sessions, and starts them again.
func TestKilledComponents(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	manifest := filepath.Join(dir, "pods.yaml")
	if err := os.WriteFile(manifest, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	c := own(t, stack.Options{ExecGates: true, Nodes: []stack.Node{{Name: ours}}, Manifests: []string{manifest}})
	keepPod(t, c, manifest)
	alice := newCaller(t, c.alice)
	all := map[string]*process.Process{"API server": c.APIServer(), "kubelet": c.Kubelet(ours), "runtime": c.Runtime(ours)}
	for _, names := range [][]string{
		{"API server"},
		{"kubelet"},
		{"runtime"},
		{"API server", "kubelet"},
		{"API server", "runtime"},
		{"kubelet", "runtime"},
	} {
		t.Run(fmt.Sprintf("STK-1 %v killed and started again", names), func(t *testing.T) {
			sessions := holdMany(t, alice, openSessions)
			for _, name := range names {
				all[name].Kill()
			}
			ended := 0
			for _, s := range sessions {
				if !s.open() || s.wait(t) != nil {
					ended++
				}
			}
			if ended != openSessions {
				t.Errorf("%d of %d sessions ended with an error", ended, openSessions)
			}
			started := time.Now()
			// The runtime before the kubelet, the API server before both, as a machine would.
			for _, name := range []string{"API server", "runtime", "kubelet"} {
				if !all[name].Alive() {
					if err := all[name].Start(t.Context()); err != nil {
						t.Fatal(err)
					}
				}
			}
			// An API server that was started anew has a new pod of the old name.
			if _, err := c.AwaitPod(t.Context(), "default", ours); err != nil {
				t.Fatal(err)
			}
			await(t, "an exec that carries an ID", func() bool {
				r, err := alice.report(t.Context(), ours)
				return err == nil && value(t, r, execaudit.AuditIDName) != ""
			})
			await(t, "the pod to be the node's only one", func() bool { return sandboxesOf(t, c) == 1 })
			t.Logf("an exec works %v after the restart", time.Since(started).Round(10*time.Millisecond))
		})
	}
}

// sandboxesOf counts the pods that the node's runtime has.
func sandboxesOf(t *testing.T, c *cluster) int {
	t.Helper()
	conn, err := grpc.NewClient("unix://"+c.RuntimeSocket(ours), grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	list, err := runtimeapi.NewRuntimeServiceClient(conn).ListPodSandbox(t.Context(), &runtimeapi.ListPodSandboxRequest{})
	if err != nil {
		t.Fatal(err)
	}
	return len(list.GetItems())
}

// keepPod writes the node's pod into the manifest that the API server reads when it
// starts again.
func keepPod(t *testing.T, c *cluster, manifest string) {
	t.Helper()
	p, err := c.AwaitPod(t.Context(), "default", ours)
	if err != nil {
		t.Fatal(err)
	}
	kept := pod(ours, ours)
	kept.Namespace, kept.Kind, kept.APIVersion = "default", "Pod", "v1"
	kept.Spec.Containers[0].Image = p.Spec.Containers[0].Image
	text, err := yaml.Marshal(kept)
	if err == nil {
		err = os.WriteFile(manifest, text, 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// holdMany opens n sessions at once; each has an ID of its own.
func holdMany(t *testing.T, who *caller, n int) []*session {
	t.Helper()
	sessions, errs := make([]*session, n), make([]error, n)
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() { sessions[i], errs[i] = who.hold(t.Context(), ours) })
	}
	all.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, s := range sessions {
		seen[value(t, s.report, execaudit.AuditIDName)] = true
	}
	if len(seen) != n {
		t.Fatalf("%d sessions have %d different IDs", n, len(seen))
	}
	return sessions
}
