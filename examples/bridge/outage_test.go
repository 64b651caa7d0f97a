package bridge_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/lanyard-dev/lanyard/examples/bridge"
	"github.com/lanyard-dev/lanyard/examples/kubernetes"
	"github.com/lanyard-dev/lanyard/execaudit/journal"
)

// TestWebhookDown has no webhook answer.
func TestWebhookDown(t *testing.T) {
	r := rigOf(t)
	alice := person(t, r, "alice")
	hero := person(t, r, "hero", "lanyard:break-glass")
	system := systemPod(t, r)
	r.Webhook().Kill()
	t.Cleanup(func() {
		if err := errors.Join(r.ApplyChart(ctxOfCleanup(), nil), r.RestartWebhook(ctxOfCleanup())); err != nil {
			t.Fatal(err)
		}
		awaitMarked(t, r, alice)
	})
	t.Run("BRG-6 webhook down, failure policy Fail: an exec is refused and told why", func(t *testing.T) {
		got, err := alice.Kubectl(t.Context(), "exec", shared.pod.Name, "--", "/reporter")
		if err != nil || got.Code == 0 || !strings.Contains(got.Stderr, "failed calling webhook") {
			t.Errorf("kubectl exec = %+v, %v, want that no webhook answers", got, err)
		}
	})
	t.Run("BRG-6 webhook down, failure policy Fail: kube-system goes on, unmarked", func(t *testing.T) {
		plain(t, reported(t, alice, system))
	})
	t.Run("BRG-6 webhook down, failure policy Fail: break-glass goes on, unmarked", func(t *testing.T) {
		plain(t, reported(t, hero, shared.pod))
	})
	t.Run("BRG-6 webhook down, failure policy Ignore: an exec goes on, unmarked", func(t *testing.T) {
		if err := r.ApplyChart(t.Context(), map[string]any{"webhook": map[string]any{"failurePolicy": "Ignore"}}); err != nil {
			t.Fatal(err)
		}
		var got kubernetes.Result
		await(t, "execs that go on", func() (bool, error) {
			var err error
			got, err = execute(t, alice, shared.pod, "/reporter")
			return err == nil, err
		})
		plain(t, parsed(t, got.Stdout))
	})
}

// systemPod runs a pod in kube-system.
func systemPod(t *testing.T, r *bridge.Rig) *corev1.Pod {
	t.Helper()
	pod, no := &corev1.Pod{}, false
	pod.Namespace, pod.Spec.AutomountServiceAccountToken = metav1.NamespaceSystem, &no
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "default"}}
	if _, err := r.Client().CoreV1().ServiceAccounts(pod.Namespace).Create(t.Context(), account, metav1.CreateOptions{}); err != nil && !apierrors.IsAlreadyExists(err) {
		t.Fatal(err)
	}
	return run(t, r, pod)
}

// awaitMarked waits until execs are marked again: the API server takes up a configuration in its own time.
func awaitMarked(t *testing.T, r *bridge.Rig, user *kubernetes.User) {
	t.Helper()
	await(t, "marked execs", func() (bool, error) {
		_, _, err := one(ctxOfCleanup(), user, shared.pod)
		return err == nil, err
	})
}

// await asks until done is true.
func await(t *testing.T, what string, done func() (bool, error)) {
	t.Helper()
	if err := kubernetes.Await(ctxOfCleanup(), what, func(context.Context) (bool, error) { return done() }); err != nil {
		t.Fatal(err)
	}
}

// TestNodeOutages has parts of the node go away while there are sessions.
func TestNodeOutages(t *testing.T) {
	r := rigOf(t)
	alice := person(t, r, "alice")
	for _, c := range []struct {
		name string
		end  func()
	}{
		{"killed", r.Node("").KillContainerd}, {"restarted", func() {}},
	} {
		t.Run("BRG-6 containerd "+c.name+" in the middle of a session: nothing hangs, the record stays, and new ones are marked", func(t *testing.T) {
			s := open(t, r, alice, 1, []string{shared.pod.Name}, "hold")
			id := marked(t, s.Reports[0])
			c.end()
			if err := r.Node("").RestartContainerd(t.Context()); err != nil {
				t.Fatal(err)
			}
			_ = s.End()
			if intent := intentOf(t, r, id); intent.SessionID != s.Reports[0].AuditSession {
				t.Errorf("the journal has audit session %d, want %d", intent.SessionID, s.Reports[0].AuditSession)
			}
			awaitMarked(t, r, alice)
		})
	}
	t.Run("BRG-6 the node's daemon away: records wait, and none is lost", func(t *testing.T) {
		r.Daemon().Kill()
		id := marked(t, reported(t, alice, shared.pod))
		if found, err := r.Journal(func(j journal.Record) bool { return j.ExecSession == id }); err != nil || len(found) > 0 {
			t.Errorf("%d records without a daemon, %v", len(found), err)
		}
		if err := r.Daemon().Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		intentOf(t, r, id)
		for _, kind := range []journal.Kind{journal.KindEnd} {
			if _, err := r.AwaitJournal(t.Context(), func(j journal.Record) bool { return j.Kind == kind && j.ExecSession == id }); err != nil {
				t.Errorf("%s: %v", kind, err)
			}
		}
	})
	t.Run("BRG-6 the wrapper replaced in the middle of sessions: all are marked", func(t *testing.T) {
		wrapper := r.WrapperFile()
		replaced, faults := make(chan error, 1), make([]error, 0)
		stop := make(chan struct{})
		go func() {
			for {
				select {
				case <-stop:
					replaced <- nil
					return
				default:
				}
				if err := replace(wrapper); err != nil {
					replaced <- err
					return
				}
			}
		}()
		for range 40 {
			if _, _, err := one(t.Context(), alice, shared.pod); err != nil {
				faults = append(faults, err)
			}
		}
		close(stop)
		if err := errors.Join(append(faults, <-replaced)...); err != nil {
			t.Error(err)
		}
	})
}

// replace puts a copy of the file in its place, as an upgrade does.
func replace(file string) error {
	from, err := os.Open(file)
	if err != nil {
		return err
	}
	defer from.Close()
	to, err := os.OpenFile(file+".new", os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o755)
	if err != nil {
		return err
	}
	_, err = io.Copy(to, from)
	if err := errors.Join(err, to.Close()); err != nil {
		return fmt.Errorf("copy of %s: %w", file, err)
	}
	return os.Rename(to.Name(), file)
}
