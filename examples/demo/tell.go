package demo

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/lanyard-dev/lanyard/examples/kubelet"
	"github.com/lanyard-dev/lanyard/examples/stack"
)

// Tell starts the stack in dir, plays every scene and stops it. It returns an error
// unless all of the story held and the stack stopped clean.
func Tell(ctx context.Context, dir string) (err error) {
	started := time.Now()
	stage, err := Open(ctx, dir, os.Stdout)
	if err != nil {
		return err
	}
	defer func() {
		err = errors.Join(err, stage.Stack.Stop())
		if err == nil {
			fmt.Printf("\nAll of it held, and nothing is left running. (%.0f s)\n", time.Since(started).Seconds())
		}
	}()
	return Run(ctx, stage, Scenes())
}

// Keep starts the stack in dir, says how to use it, and stops it when ctx ends.
func Keep(ctx context.Context, dir string) error {
	stage, err := Open(ctx, dir, os.Stdout)
	if err != nil {
		return err
	}
	bin, err := os.Executable()
	if err != nil {
		return errors.Join(err, stage.Stack.Stop())
	}
	fmt.Printf("\nThe stack is up at %s. Its people:\n\n", stage.Stack.URL())
	for _, user := range people() {
		fmt.Printf("  export KUBECONFIG=%-60s # %s\n", stage.Users[user.name], user.may)
	}
	fmt.Printf("\n  export PATH=%s:$PATH\n  kubectl exec web -- /reporter\n\nAudit log: %s\nInterrupt to stop.\n", filepath.Dir(bin), stage.Stack.AuditLog())
	<-ctx.Done()
	return stage.Stack.Stop()
}

// Open starts the stack of the story: two nodes on our runtime, the second with a
// hardened kubelet, one on containerd, a pod on each, and its people.
func Open(ctx context.Context, dir string, out *os.File) (_ *Stage, err error) {
	fmt.Fprintln(out, "Starting an API server, three nodes (two on our runtime, one on containerd) and a registry ...")
	manifest := filepath.Join(dir, "people.yaml")
	if err := os.WriteFile(manifest, []byte(permissions()), 0o644); err != nil {
		return nil, err
	}
	s, err := stack.Start(ctx, stack.Options{
		Dir: dir, ExecGates: true, Manifests: []string{manifest}, APIServerFlags: []string{stack.AnonymousAuth},
		Nodes: []stack.Node{
			{Name: "node-1"},
			{Name: "node-2", Runtime: stack.Containerd},
			{Name: "node-3", Configure: func(c *kubelet.Config) { c.HardenedVerbs = true }},
		},
	})
	if err != nil {
		return nil, err
	}
	stage := &Stage{Stack: s, Out: out, Users: map[string]string{}}
	if err := stage.prepare(ctx); err != nil {
		return nil, errors.Join(err, s.Stop())
	}
	return stage, nil
}

func (s *Stage) prepare(ctx context.Context) error {
	for _, p := range people() {
		file, err := s.Stack.User(p.name, p.groups...)
		if err != nil {
			return err
		}
		s.Users[p.name] = file
	}
	for _, pod := range []struct{ name, node string }{{"web", "node-1"}, {"web-containerd", "node-2"}, {"web-hardened", "node-3"}} {
		if err := s.runPod(ctx, pod.name, pod.node); err != nil {
			return err
		}
	}
	return nil
}
