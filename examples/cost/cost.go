// Package cost measures what the exec gates cost: the same exec, through the same
// components, with the gates on and with them off.
package cost

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/remotecommand"

	"github.com/lanyard-dev/lanyard/examples/stack"
	"github.com/lanyard-dev/lanyard/examples/testimage"
)

// Sessions is how many sessions are measured on each side; Warmup come before.
const (
	Sessions = 200
	Warmup   = 10
)

// side is one of the two clusters.
type side struct {
	stack *stack.Stack
	times []time.Duration
}

// Measure starts two stacks below dir, runs their sessions in turn, and writes the
// medians, the 99th percentiles and the ratios.
func Measure(ctx context.Context, dir string, out io.Writer) (err error) {
	on, off := &side{}, &side{}
	defer func() {
		for _, s := range []*side{on, off} {
			if s.stack != nil {
				err = errors.Join(err, s.stack.Stop())
			}
		}
	}()
	if err := on.start(ctx, filepath.Join(dir, "on"), true); err != nil {
		return err
	}
	if err := off.start(ctx, filepath.Join(dir, "off"), false); err != nil {
		return err
	}
	for i := range Warmup + Sessions {
		// The two take turns in going first, because the second may find things warm.
		pair := []*side{on, off}
		if i%2 == 1 {
			slices.Reverse(pair)
		}
		for _, s := range pair {
			took, err := s.exec(ctx)
			if err != nil {
				return err
			}
			if i >= Warmup {
				s.times = append(s.times, took)
			}
		}
	}
	for _, q := range []struct {
		name  string
		share float64
	}{{"median", 0.5}, {"p99", 0.99}} {
		a, b := on.quantile(q.share), off.quantile(q.share)
		fmt.Fprintf(out, "exec of one static binary, %d sessions each, interleaved: %-6s gates on %v, off %v, ratio %.3f\n",
			Sessions, q.name, a.Round(10*time.Microsecond), b.Round(10*time.Microsecond), float64(a)/float64(b))
	}
	return nil
}

const pod = "cost"

func (s *side) start(ctx context.Context, dir string, gates bool) (err error) {
	if err := os.Mkdir(dir, 0o755); err != nil {
		return err
	}
	if s.stack, err = stack.Start(ctx, stack.Options{Dir: dir, ExecGates: gates, Nodes: []stack.Node{{Name: "node"}}}); err != nil {
		return err
	}
	image, err := s.stack.Image("cost:v1", testimage.Spec{Config: v1.Config{Entrypoint: []string{testimage.Program}}})
	if err != nil {
		return err
	}
	_, err = s.stack.Admin().CoreV1().Pods(metav1.NamespaceDefault).Create(ctx, &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: pod},
		Spec: corev1.PodSpec{NodeName: "node", HostNetwork: true, Containers: []corev1.Container{
			{Name: "app", Image: image, Args: []string{"sleep"}},
		}},
	}, metav1.CreateOptions{})
	if err != nil {
		return err
	}
	_, err = s.stack.AwaitPod(ctx, metav1.NamespaceDefault, pod)
	return err
}

// exec runs the reporter in the pod and returns how long that took the client.
func (s *side) exec(ctx context.Context) (time.Duration, error) {
	config, err := stack.Config(s.stack.AdminFile())
	if err != nil {
		return 0, err
	}
	url := s.stack.Admin().CoreV1().RESTClient().Get().Namespace(metav1.NamespaceDefault).
		Resource("pods").Name(pod).SubResource("exec").
		VersionedParams(&corev1.PodExecOptions{Command: []string{testimage.Program}, Stdout: true, Stderr: true}, scheme.ParameterCodec).URL()
	started := time.Now()
	executor, err := remotecommand.NewWebSocketExecutor(config, "GET", url.String())
	if err != nil {
		return 0, err
	}
	err = executor.StreamWithContext(ctx, remotecommand.StreamOptions{Stdout: io.Discard, Stderr: io.Discard})
	return time.Since(started), err
}

func (s *side) quantile(share float64) time.Duration {
	sorted := slices.Sorted(slices.Values(s.times))
	return sorted[int(share*float64(len(sorted)-1))]
}
