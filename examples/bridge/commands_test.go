package bridge_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/remotecommand"

	corev1 "k8s.io/api/core/v1"

	"github.com/lanyard-dev/lanyard/examples/kubernetes"
	"github.com/lanyard-dev/lanyard/examples/testimage/report"
)

// TestCommands has commands of unusual forms go all the way.
func TestCommands(t *testing.T) {
	r := rigOf(t)
	alice := person(t, r, "alice")
	t.Run("BRG-1 a command of 200 elements arrives whole", func(t *testing.T) {
		words := []string{"linger", "0s"}
		for i := range 197 {
			words = append(words, fmt.Sprint("element ", i))
		}
		command := append([]string{"/reporter"}, words...)
		// The rest of linger is no verb: what matters is what the process was given.
		got, err := execute(t, alice, shared.pod, command...)
		if err != nil || got.Code != 1 {
			t.Fatalf("exec = %+v, %v", got, err)
		}
		intent := newestIntent(t, r)
		if !slices.Equal(intent.Argv, command) {
			t.Errorf("the journal has %d elements, want the %d that were asked for", len(intent.Argv), len(command))
		}
	})
	t.Run("BRG-1 an element of 100 KiB arrives whole", func(t *testing.T) {
		long := strings.Repeat("x", 100<<10)
		got, err := execute(t, alice, shared.pod, "/reporter", "print", long)
		if err != nil || got.Stdout != long {
			t.Fatalf("exec printed %d bytes, code %d, %s, %v, want %d", len(got.Stdout), got.Code, got.Stderr, err, len(long))
		}
	})
	for name, element := range map[string]string{"a NUL": "a\x00b", "invalid UTF-8": "a\xff\xfeb"} {
		t.Run("BRG-6 a command with "+name+" is refused or runs marked, as a whole", func(t *testing.T) {
			got, err := raw(t, alice, shared.pod, "/reporter", "linger", "0s", "", element)
			t.Logf("%q, %v", got.Stdout, err)
			if err != nil || got.Stdout == "" {
				return // refused
			}
			marked(t, parsed(t, got.Stdout))
		})
	}
	t.Run("BRG-6 hundreds of execs at once are all marked, each with a session of its own", func(t *testing.T) {
		const sessions, atOnce = 200, 8
		var all sync.WaitGroup
		work, mu := make(chan struct{}), sync.Mutex{}
		ids, audits, faults := map[string]bool{}, map[uint32]bool{}, []error{}
		for range atOnce {
			all.Go(func() {
				for range work {
					id, audit, err := one(t.Context(), alice, shared.pod)
					mu.Lock()
					ids[id], audits[audit] = true, true
					if err != nil {
						faults = append(faults, err)
					}
					mu.Unlock()
				}
			})
		}
		for range sessions {
			work <- struct{}{}
		}
		close(work)
		all.Wait()
		if err := errors.Join(faults...); err != nil {
			t.Fatal(err)
		}
		if len(ids) != sessions || len(audits) != sessions {
			t.Errorf("%d sessions and %d audit sessions, want %d", len(ids), len(audits), sessions)
		}
		noToken(t, r, shared.pod)
	})
}

// one runs one session and returns its ID and its audit session.
func one(ctx context.Context, user *kubernetes.User, pod *corev1.Pod) (string, uint32, error) {
	ctx, cancel := context.WithTimeout(ctx, execPatience)
	defer cancel()
	got, err := user.Exec(ctx, kubernetes.Session{Pod: pod.Name, Command: []string{"/reporter"}})
	if err != nil {
		return "", 0, err
	}
	said, err := report.Parse([]byte(got.Stdout))
	if err != nil {
		return "", 0, fmt.Errorf("%w: %s", err, got.Stderr)
	}
	id, err := fully(said)
	return id, said.AuditSession, err
}

// raw runs a command whose elements need not be text: in the URL as they are.
func raw(t *testing.T, user *kubernetes.User, pod *corev1.Pod, command ...string) (kubernetes.Result, error) {
	t.Helper()
	client, err := user.Client()
	if err != nil {
		t.Fatal(err)
	}
	at := client.CoreV1().RESTClient().Post().Resource("pods").Namespace(pod.Namespace).Name(pod.Name).SubResource("exec").
		VersionedParams(&corev1.PodExecOptions{Stdout: true, Stderr: true}, scheme.ParameterCodec).URL()
	query := at.Query()
	query["command"] = command
	at.RawQuery = query.Encode()
	executor, err := remotecommand.NewWebSocketExecutor(user.Config, http.MethodGet, at.String())
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), execPatience)
	defer cancel()
	var out, errs strings.Builder
	err = executor.StreamWithContext(ctx, remotecommand.StreamOptions{Stdout: &out, Stderr: &errs})
	if ctx.Err() != nil {
		t.Fatalf("it hangs: %v", err)
	}
	return kubernetes.Result{Stdout: out.String(), Stderr: errs.String()}, err
}
