package e2e_test

import (
	"context"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/lanyard-dev/lanyard/examples/kubelet"
	"github.com/lanyard-dev/lanyard/examples/stack"
	"github.com/lanyard-dev/lanyard/examples/testimage"
	"github.com/lanyard-dev/lanyard/execaudit"
	"github.com/lanyard-dev/lanyard/execaudit/negotiate"
)

// TestVersionSkew is the version-skew section of KEP-6035, row by row.
func TestVersionSkew(t *testing.T) {
	c := common(t)
	works := func(t *testing.T, pod string) {
		t.Helper()
		r := reported(t, c.alice, "exec", pod, "--", testimage.Program)
		if got := values(r, execaudit.AuditIDName); len(got) != 0 {
			t.Errorf("%s = %q, want the session without it", execaudit.AuditIDName, got)
		}
	}
	t.Run("EXA-16 EXA-21 newer API server, older kubelet", func(t *testing.T) { works(t, gateOff) })
	t.Run("EXA-17 EXA-21 newer kubelet, older runtime", func(t *testing.T) { works(t, old) })
	t.Run("EXA-21 STK-6 newer kubelet, containerd 2.4.2", func(t *testing.T) { works(t, containerd) })
	t.Run("EXA-12 EXA-21 EXA-29 EXA-33 older API server, newer kubelet and runtime", func(t *testing.T) {
		c := own(t, stack.Options{Nodes: []stack.Node{{Name: ours, Configure: func(c *kubelet.Config) { c.FeatureGates["ExecEnvVar"] = true }}}})
		r := reported(t, c.alice, "exec", ours, "--", testimage.Program)
		if got := values(r, execaudit.AuditIDName); len(got) != 0 {
			t.Errorf("%s = %q from an API server with its gates off", execaudit.AuditIDName, got)
		}
		if counted(t, c, "skipped") != 1 {
			t.Error("the exec is not counted as skipped")
		}
		got := kubectl(t, c.alice, "exec-env", "--env", "A=1", ours, "--", testimage.Program)
		if got.code == 0 {
			t.Errorf("exec-env against a server without the gate succeeded and lost A: %s", got.out)
		}
		if !strings.Contains(got.err, "ExecEnvVar") {
			t.Errorf("exec-env says %q, want the gate that is missing", got.err)
		}
	})
}

// TestSilentDegradation is what a kubelet does when its runtime would lose an environment.
func TestSilentDegradation(t *testing.T) {
	c := common(t)
	t.Run("EXA-20 STK-9 it is counted each time and said in one event", func(t *testing.T) {
		before := metric(t, kubeletMetrics(t, c, old), negotiate.UnsupportedMetric)
		for range 3 {
			reported(t, c.alice, "exec", old, "--", testimage.Program)
		}
		if got := metric(t, kubeletMetrics(t, c, old), negotiate.UnsupportedMetric) - before; got != 3 {
			t.Errorf("three sessions counted %d times in %s", got, negotiate.UnsupportedMetric)
		}
		said := events(t, c, old, negotiate.EventReason)
		if len(said) != 1 {
			t.Errorf("events with reason %s = %q, want one for the pod", negotiate.EventReason, said)
		}
	})
	t.Run("EXA-20 a runtime that reports the feature counts nothing", func(t *testing.T) {
		reported(t, c.alice, "exec", ours, "--", testimage.Program)
		if got := metric(t, kubeletMetrics(t, c, ours), negotiate.UnsupportedMetric); got != 0 {
			t.Errorf("%s = %d on a runtime with the feature", negotiate.UnsupportedMetric, got)
		}
	})
	t.Run("EXA-30 with --require-exec-env-support the exec is refused", func(t *testing.T) {
		got := kubectl(t, c.alice, "exec", strict, "--", testimage.Program)
		if got.code == 0 || !strings.Contains(got.err, "does not support exec environment variables") {
			t.Errorf("exit %d, %s%s, want a refusal that says why", got.code, got.out, got.err)
		}
	})
	t.Run("EXA-30 an exec without an environment is not refused", func(t *testing.T) {
		c := own(t, stack.Options{Nodes: []stack.Node{{Name: strict, Runtime: stack.OldLanyard, Configure: func(c *kubelet.Config) {
			c.RequireExecEnvSupport = true
			c.FeatureGates["ExecEnvVar"] = true
		}}}})
		reported(t, c.alice, "exec", strict, "--", testimage.Program)
	})
}

// TestRuntimeHandlers has a node whose runtime injects for its default handler alone: the kubelet asks about the pod's.
func TestRuntimeHandlers(t *testing.T) {
	const plain, other = "plain", "other"
	withClass := func(name, class string) *corev1.Pod {
		p := pod(name, plain)
		p.Spec.RuntimeClassName = &class
		return p
	}
	start := func(t *testing.T, require bool) *cluster {
		t.Helper()
		c := own(t, stack.Options{ExecGates: true, Nodes: []stack.Node{{Name: plain, Runtime: stack.MixLanyard, Configure: func(c *kubelet.Config) {
			c.RequireExecEnvSupport = require
			c.RuntimeClasses = map[string]string{"legacy": stack.OldHandler}
		}}}})
		if _, err := c.run(t.Context(), withClass(other, "legacy")); err != nil {
			t.Fatal(err)
		}
		return c
	}
	injected := func(t *testing.T, c *cluster, pod string, want int) {
		t.Helper()
		if got := values(reported(t, c.alice, "exec", pod, "--", testimage.Program), execaudit.AuditIDName); len(got) != want {
			t.Errorf("%s in %s = %q, want %d", execaudit.AuditIDName, pod, got, want)
		}
	}
	t.Run("EXA-20 EXA-36 a session of the handler without support is counted, the other injects", func(t *testing.T) {
		c := start(t, false)
		injected(t, c, plain, 1)
		injected(t, c, other, 0)
		if got := metric(t, kubeletMetrics(t, c, plain), negotiate.UnsupportedMetric); got != 1 {
			t.Errorf("%s = %v, want the one session of the other handler", negotiate.UnsupportedMetric, got)
		}
		if said := events(t, c, other, negotiate.EventReason); len(said) != 1 {
			t.Errorf("events = %q, want one", said)
		}
		p, err := c.run(t.Context(), withClass("unknown", "kata"))
		if err != nil || p.Status.Phase != corev1.PodFailed || p.Status.Reason != "RuntimeClassNotFound" {
			t.Errorf("a pod of a class that the kubelet does not know is %v, %v", p, err)
		}
	})
	t.Run("EXA-30 EXA-36 with --require-exec-env-support the handler without support refuses, the other does not", func(t *testing.T) {
		c := start(t, true)
		injected(t, c, plain, 1)
		got := kubectl(t, c.alice, "exec", other, "--", testimage.Program)
		if got.code == 0 || !strings.Contains(got.err, "does not support exec environment variables") {
			t.Errorf("exit %d, %s%s, want a refusal that says why", got.code, got.out, got.err)
		}
	})
}

// events returns the messages of the events about a pod with that reason, once there
// is one; nil when none comes within ten seconds.
func events(t *testing.T, c *cluster, pod, reason string) []string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	client := c.Admin().CoreV1().Events(metav1.NamespaceDefault)
	about := metav1.ListOptions{FieldSelector: "involvedObject.name=" + pod + ",reason=" + reason}
	list, err := client.List(ctx, about)
	if err != nil {
		t.Fatal(err)
	}
	if len(list.Items) == 0 {
		later := about
		later.ResourceVersion = list.ResourceVersion
		coming, err := client.Watch(ctx, later)
		if err != nil {
			t.Fatal(err)
		}
		defer coming.Stop()
		<-coming.ResultChan() // an event, or closed because the time is over
		if list, err = client.List(t.Context(), about); err != nil {
			t.Fatal(err)
		}
	}
	var messages []string
	for _, e := range list.Items {
		messages = append(messages, e.Message)
	}
	return messages
}
