package demo

import (
	"context"
	"fmt"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/lanyard-dev/lanyard/examples/kubelet/puller"
	"github.com/lanyard-dev/lanyard/examples/stack"
	"github.com/lanyard-dev/lanyard/examples/testimage"
)

// pullAsWorkload has two workloads pull from a registry that knows them, and not the node.
func pullAsWorkload() Scene {
	return Scene{
		Title:  "Two workloads pull images, each as itself",
		Proves: "an image is pulled with the pod's own token: no pull secret anywhere, and no pod gets another's image, not even one that is on the node.",
		Play: func(ctx context.Context, s *Stage) error {
			private, err := s.Stack.Private(stack.PrivateOptions{Grants: map[string][]string{
				"default/payroll": {"payroll/app"},
				"default/blog":    {"blog/app"},
			}})
			if err != nil {
				return err
			}
			defer private.Close()
			const node = "node-1"
			use, err := private.Install("providers", private.Provider("lanyard-pull", ""))
			if err != nil {
				return err
			}
			if err := s.Stack.RestartKubelet(ctx, node, use); err != nil {
				return err
			}
			s.say("A registry wants a token of the pod's service account, and gives a password for one pull.")
			for _, team := range []string{"payroll", "blog"} {
				if err := s.pullOwn(ctx, private, team, node); err != nil {
					return err
				}
			}
			return s.pullOthers(ctx, private, node)
		},
	}
}

// pullOwn runs a team's pod in the team's image.
func (s *Stage) pullOwn(ctx context.Context, private *stack.Private, team, node string) error {
	image, err := s.Stack.Image(team+"/app:v1", testimage.Spec{
		Files:  map[string]string{"/name": team},
		Config: v1.Config{Entrypoint: []string{testimage.Program}},
	})
	if err != nil {
		return err
	}
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: team}}
	if _, err := s.Stack.Admin().CoreV1().ServiceAccounts(metav1.NamespaceDefault).Create(ctx, account, metav1.CreateOptions{}); err != nil {
		return err
	}
	if err := s.startAs(ctx, team, team, private.Named(image), node); err != nil {
		return err
	}
	pod, err := s.Stack.AwaitPod(ctx, metav1.NamespaceDefault, team)
	if err != nil {
		return err
	}
	exchanges := private.Exchanges()
	last := exchanges[len(exchanges)-1]
	s.pause()
	s.say("pod %-10s runs %s", team, pod.Spec.Containers[0].Image)
	s.say("registry       token of %s, bound to pod %s (%s): a password for %s", last.Workload.Account(), last.Workload.Pod, last.Workload.PodUID, last.Repository)
	return s.check(last.Granted && last.Workload.PodUID == string(pod.UID), "the registry saw the pod itself, not the node")
}

// pullOthers has the blog ask for the payroll's image, which is on the node by now.
func (s *Stage) pullOthers(ctx context.Context, private *stack.Private, node string) error {
	const thief = "blog-curious"
	if err := s.startAs(ctx, thief, "blog", private.Host()+"/payroll/app:v1", node); err != nil {
		return err
	}
	s.pause()
	events, err := s.await(ctx, "admin", puller.EventReason, "get", "events", "--field-selector", "involvedObject.name="+thief)
	if err != nil {
		return err
	}
	if !strings.Contains(events, puller.EventReason) {
		return fmt.Errorf("no event %s on pod %s", puller.EventReason, thief)
	}
	for line := range strings.Lines(events) {
		if strings.Contains(line, puller.EventReason) {
			s.quote(line)
		}
	}
	exchanges := private.Exchanges()
	last := exchanges[len(exchanges)-1]
	s.say("registry       token of %s: no password for %s", last.Workload.Account(), last.Repository)
	if err := s.check(!last.Granted && last.Workload.Pod == thief, "the blog does not get the payroll's image, although the node has it"); err != nil {
		return err
	}
	pod, err := s.Stack.Admin().CoreV1().Pods(metav1.NamespaceDefault).Get(ctx, thief, metav1.GetOptions{})
	if err != nil {
		return err
	}
	return s.check(pod.Status.Phase == corev1.PodPending, "its pod does not start, and an event says why")
}

// startAs creates a pod that runs as a service account.
func (s *Stage) startAs(ctx context.Context, name, account, image, node string) error {
	return s.create(ctx, name, corev1.PodSpec{
		NodeName: node, ServiceAccountName: account,
		Containers: []corev1.Container{{Name: "app", Image: image, Args: []string{"sleep"}}},
	})
}
