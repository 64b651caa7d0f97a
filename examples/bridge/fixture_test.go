package bridge_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/lanyard-dev/lanyard/examples/bridge"
	"github.com/lanyard-dev/lanyard/examples/kubernetes"
	"github.com/lanyard-dev/lanyard/examples/testimage/report"
	brg "github.com/lanyard-dev/lanyard/execaudit/bridge"
)

// The rig of every test that does not break it.
var shared struct {
	once  sync.Once
	rig   *bridge.Rig
	older *corev1.Pod // is older than the wrapper
	pod   *corev1.Pod // is for sessions that leave nothing
	err   error
	took  time.Duration
}

const startPatience = 3 * time.Minute

func TestMain(m *testing.M) {
	code := m.Run()
	if shared.rig != nil {
		began := time.Now()
		if err := shared.rig.Stop(); err != nil {
			fmt.Fprintln(os.Stderr, "the shared rig did not stop clean:", err)
			code = 1
		}
		fmt.Printf("the shared rig started in %.1fs and stopped in %.1fs\n", shared.took.Seconds(), time.Since(began).Seconds())
	}
	os.Exit(code)
}

// rigOf returns the shared rig, which the first call starts, with a pod that was there before the bridge.
func rigOf(t *testing.T) *bridge.Rig {
	t.Helper()
	bridge.Need(t)
	shared.once.Do(func() {
		ctx, cancel := context.WithTimeout(context.Background(), startPatience)
		defer cancel()
		began := time.Now()
		shared.rig, shared.err = bridge.Start(ctx, bridge.Options{Before: func(r *bridge.Rig) (err error) {
			shared.older, err = r.Run(ctx, named("older"))
			return err
		}})
		if shared.err == nil {
			shared.pod, shared.err = shared.rig.Run(ctx, named("app"))
		}
		shared.took = time.Since(began)
	})
	if shared.err != nil {
		t.Fatal(shared.err)
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("%s", shared.rig.Logs())
		}
	})
	return shared.rig
}

func named(name string) *corev1.Pod {
	pod := &corev1.Pod{}
	pod.Name = name
	return pod
}

// ctxOfCleanup is for what ends a test, when its own context is over.
func ctxOfCleanup() context.Context { return context.Background() }

// run runs a pod until the test ends.
func run(t *testing.T, r *bridge.Rig, pod *corev1.Pod) *corev1.Pod {
	t.Helper()
	got, err := r.Run(t.Context(), pod)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.Remove(ctxOfCleanup(), got); err != nil {
			t.Error(err)
		}
	})
	if got.Status.Phase != corev1.PodRunning {
		t.Fatalf("pod %s is %s: %s", got.Name, got.Status.Phase, got.Status.Message)
	}
	return got
}

func person(t *testing.T, r *bridge.Rig, name string, groups ...string) *kubernetes.User {
	t.Helper()
	user, err := r.Person(t.Context(), name, groups...)
	if err != nil {
		t.Fatal(err)
	}
	return user
}

// open opens a session by kubectl that holds until the test ends.
func open(t *testing.T, r *bridge.Rig, user *kubernetes.User, reports int, target []string, words ...string) *bridge.Session {
	t.Helper()
	s, err := r.Open(t.Context(), user, reports, target, words...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.End() })
	return s
}

// execute runs a command through the API server to its end.
func execute(t *testing.T, user *kubernetes.User, pod *corev1.Pod, command ...string) (kubernetes.Result, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), execPatience)
	defer cancel()
	return user.Exec(ctx, kubernetes.Session{Namespace: pod.Namespace, Pod: pod.Name, Command: command})
}

// execPatience is longer than any exec here takes: what is still there then hangs.
const execPatience = 30 * time.Second

// reported runs the reporter with the words in the pod and returns its first report.
func reported(t *testing.T, user *kubernetes.User, pod *corev1.Pod, words ...string) report.Report {
	t.Helper()
	got, err := execute(t, user, pod, append([]string{"/reporter"}, words...)...)
	if err != nil || got.Code != 0 {
		t.Fatalf("exec of /reporter %q = %+v, %v", words, got, err)
	}
	return parsed(t, got.Stdout)
}

func parsed(t *testing.T, text string) (r report.Report) {
	t.Helper()
	if err := json.NewDecoder(strings.NewReader(text)).Decode(&r); err != nil {
		t.Fatalf("report %q: %v", text, err)
	}
	return r
}

// marked returns the session's ID of a process that has all that the bridge gives, or fails the test.
func marked(t *testing.T, r report.Report) string {
	t.Helper()
	id, err := fully(r)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

func fully(r report.Report) (string, error) {
	text, _ := r.Get(brg.SessionName)
	id, err := brg.ParseSessionID(text)
	switch {
	case err != nil:
		return "", fmt.Errorf("%s is %q: %w", brg.SessionName, text, err)
	case r.LoginUID != id.LoginUID():
		return "", fmt.Errorf("login UID %d, want %d, that of session %s", r.LoginUID, id.LoginUID(), id)
	case r.AuditSession == report.NoSession:
		return "", errors.New("the kernel gave the process no audit session")
	}
	return text, nil
}

// plain fails the test where the process has anything of the bridge's.
func plain(t *testing.T, r report.Report) {
	t.Helper()
	if id, has := r.Get(brg.SessionName); has || r.LoginUID != report.NoSession || r.AuditSession != report.NoSession {
		t.Errorf("session %q, login UID %d, audit session %d, want none", id, r.LoginUID, r.AuditSession)
	}
}
