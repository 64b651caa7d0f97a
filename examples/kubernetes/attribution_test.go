package kubernetes_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	auditv1 "k8s.io/apiserver/pkg/apis/audit/v1"
	"k8s.io/client-go/tools/remotecommand"

	"github.com/lanyard-dev/lanyard/examples/kubernetes"
	"github.com/lanyard-dev/lanyard/examples/parts"
	"github.com/lanyard-dev/lanyard/execaudit/attribution"
	"github.com/lanyard-dev/lanyard/execaudit/attribution/lines"
)

// odd is an argument in which a query and a JSON string each have something to escape.
const odd = "a b&c=d%20+\"exec\"<\\ü\n\x7f"

// asked is an exec session by kubectl, and what the audit log is to tell of it.
type asked struct {
	name    string
	user    *kubernetes.User
	flags   []string
	spdy    bool
	command []string
	exit    int // kubectl's
	as      string
	code    int
}

func (s *asked) open(t *testing.T, pod *corev1.Pod) {
	t.Helper()
	if s.spdy {
		t.Setenv("KUBECTL_REMOTE_COMMAND_WEBSOCKETS", "false")
	}
	args := slices.Concat([]string{"exec"}, s.flags, []string{pod.Name, "-c", "app", "--"}, s.command)
	if got, err := s.user.Kubectl(t.Context(), args...); err != nil || got.Code != s.exit {
		t.Fatalf("Kubectl(%q) = %+v, %v, want code %d", args, got, err, s.exit)
	}
}

// check finds the session in the audit log by its command.
func (s *asked) check(t *testing.T, c *kubernetes.Cluster, pod *corev1.Pod) {
	ended(t, c, s.user, "exec", func(e *auditv1.Event) bool {
		at, err := url.ParseRequestURI(e.RequestURI)
		return err == nil && slices.Equal(at.Query()["command"], s.command)
	})
	audits, _ := told(t, whole(t, c))
	audits = slices.DeleteFunc(audits, func(a attribution.Audit) bool { return a.Pod != pod.Name || !slices.Equal(a.Command, s.command) })
	if len(audits) == 0 {
		t.Fatal("no event of the session was read")
	}
	last := audits[len(audits)-1]
	if last.AuditID == "" || last.User.Name != s.user.Name || last.Namespace != pod.Namespace || last.Container != "app" ||
		last.Code != s.code || last.Stage != attribution.StageResponseComplete || !strings.HasPrefix(last.UserAgent, "kubectl/") {
		t.Errorf("read %+v, want user %s, container app, code %d", last, s.user.Name, s.code)
	}
	if got := last.Impersonated; (got == nil) != (s.as == "") || got != nil && got.Name != s.as {
		t.Errorf("impersonated %v, want %q", got, s.as)
	}
	for _, a := range audits {
		// kubectl asks again, over SPDY, where it was refused over WebSocket: with another ID.
		if same := a.AuditID == last.AuditID; same != a.Received.Equal(last.Received) || !same && s.exit != 1 {
			t.Errorf("%+v is of another request than %+v", a, last)
		}
	}
}

func TestAttribution(t *testing.T) {
	c := shared.Cluster(t)
	pod := run(t, c, &corev1.Pod{})
	asker, err := c.Certificate("asker", "system:masters")
	if err != nil {
		t.Fatal(err)
	}
	viewer, err := c.Certificate("viewer")
	if err != nil {
		t.Fatal(err)
	}
	see(t, c, viewer)
	const switched = http.StatusSwitchingProtocols
	for _, s := range []asked{
		{name: "over WebSocket", user: asker, command: []string{"/reporter", "print", "ws"}, code: switched},
		{name: "over SPDY", user: asker, spdy: true, command: []string{"/reporter", "print", "spdy"}, code: switched},
		{name: "of a command that is escaped", user: asker, command: []string{"/reporter", "print", odd, "", "3"}, exit: 3, code: switched},
		{name: "as somebody else", user: asker, flags: []string{"--as=jane", "--as-group=system:masters"}, command: []string{"/reporter", "print", "as"}, as: "jane", code: switched},
		{name: "that is refused", user: viewer, command: []string{"/reporter", "print", "no"}, exit: 1, code: http.StatusForbidden},
	} {
		t.Run("STK-13 ATT-1 ATT-3 ATT-7 attribution reads an exec "+s.name, func(t *testing.T) {
			s.open(t, pod)
			s.check(t, c, pod)
		})
	}
	t.Run("STK-13 ATT-3 attach, port-forward, and exec and run through nodes/proxy are named as other requests", func(t *testing.T) {
		attach(t, c, asker, pod)
		forwardPort(t, asker, pod)
		proxy := c.URL() + "/api/v1/nodes/" + pod.Spec.NodeName + "/proxy/"
		in := pod.Namespace + "/" + pod.Name + "/app"
		// kube-apiserver drops the query of an upgrade (kubernetes 77142), the reference API server does not.
		if out, err := stream(t.Context(), asker, proxy+"exec/"+in+"?output=1&command=/reporter"); err == nil || !strings.Contains(err.Error(), "at least 1 of stdin, stdout, stderr") {
			t.Errorf("an exec through nodes/proxy: %q, %v, want that its query was lost", out, err)
		}
		if out := post(t, asker, proxy+"run/"+in+"?cmd=/reporter"); !strings.Contains(out, `"/reporter"`) {
			t.Errorf("a run through nodes/proxy printed %q", out)
		}
		for kind, code := range map[string]int32{"attach": switched, "portforward": switched, "proxy": http.StatusOK} {
			ended(t, c, asker, kind, func(e *auditv1.Event) bool { return e.ResponseStatus != nil && e.ResponseStatus.Code == code })
		}
	})
	t.Run("STK-13 ATT-3 every line of the real API server's audit log is used or named", func(t *testing.T) {
		text := whole(t, c)
		var execs, others int
		for line := range bytes.Lines(text) {
			var e auditv1.Event
			if err := json.Unmarshal(line, &e); err != nil {
				t.Fatal(err)
			}
			if ref := e.ObjectRef; ref != nil && ref.Resource == "pods" && ref.Subresource == "exec" {
				execs++
			} else {
				others++
			}
		}
		audits, tally := told(t, text)
		if len(audits) != execs || tally.Ignored.OtherRequests != others || tally.Ignored.Sum() != others {
			t.Errorf("%d exec events and %s; the log has %d, and %d others", len(audits), tally.String(), execs, others)
		}
		t.Log(tally.String())
	})
}

// see lets the user read pods, which kubectl does before an exec, until the test ends.
func see(t *testing.T, c *kubernetes.Cluster, u *kubernetes.User) {
	t.Helper()
	ctx, rbac := context.Background(), c.Client().RbacV1()
	named := metav1.ObjectMeta{Name: "lanyard:see-pods"}
	_, role := rbac.ClusterRoles().Create(ctx, &rbacv1.ClusterRole{
		ObjectMeta: named, Rules: []rbacv1.PolicyRule{{APIGroups: []string{""}, Resources: []string{"pods"}, Verbs: []string{"get"}}},
	}, metav1.CreateOptions{})
	_, binding := rbac.ClusterRoleBindings().Create(ctx, &rbacv1.ClusterRoleBinding{
		ObjectMeta: named, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: named.Name},
		Subjects: []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: u.Name}},
	}, metav1.CreateOptions{})
	t.Cleanup(func() {
		if err := errors.Join(rbac.ClusterRoleBindings().Delete(ctx, named.Name, metav1.DeleteOptions{}), rbac.ClusterRoles().Delete(ctx, named.Name, metav1.DeleteOptions{})); err != nil {
			t.Error(err)
		}
	})
	if err := errors.Join(role, binding); err != nil {
		t.Fatal(err)
	}
}

// whole is the audit log up to its last whole line.
func whole(t *testing.T, c *kubernetes.Cluster) []byte {
	t.Helper()
	text, err := os.ReadFile(c.AuditLog())
	if err != nil {
		t.Fatal(err)
	}
	return text[:bytes.LastIndexByte(text, '\n')+1]
}

// told is what attribution reads in the text, whose format it finds itself. A fault fails the test.
func told(t *testing.T, text []byte) (audits []attribution.Audit, tally lines.Tally) {
	t.Helper()
	source := lines.Source{Files: []lines.Opener{{Name: "audit.log", Open: func() (io.ReadCloser, error) {
		return io.NopCloser(bytes.NewReader(text)), nil
	}}}}
	for b := range source.Read(t.Context()) {
		audits = append(audits, b.Audits...)
		for _, f := range b.Faults {
			t.Error(f)
		}
		if b.Err != nil {
			t.Error(b.Err)
		}
		if b.Ended != nil {
			tally = *b.Ended
		}
		b.Release()
	}
	return audits, tally
}

// ended waits for the end of the user's session of the kind in the audit log; nil matches any.
func ended(t *testing.T, c *kubernetes.Cluster, u *kubernetes.User, kind string, match func(*auditv1.Event) bool) auditv1.Event {
	t.Helper()
	return awaitStage(t, c, u, kind, auditv1.StageResponseComplete, match)
}

func awaitStage(t *testing.T, c *kubernetes.Cluster, u *kubernetes.User, kind string, stage auditv1.Stage, match func(*auditv1.Event) bool) auditv1.Event {
	t.Helper()
	found, err := c.AwaitAudit(t.Context(), func(e *auditv1.Event) bool {
		return e.ObjectRef != nil && e.ObjectRef.Subresource == kind && e.Stage == stage && e.User.Username == u.Name && (match == nil || match(e))
	})
	if err != nil {
		t.Fatalf("%s: %v", kind, err)
	}
	return found[0]
}

// attach attaches to the pod's program, which says nothing and goes on, until the audit log has it.
func attach(t *testing.T, c *kubernetes.Cluster, u *kubernetes.User, pod *corev1.Pod) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	done := make(chan error, 1)
	go func() {
		_, err := stream(ctx, u, c.URL()+"/api/v1/namespaces/"+pod.Namespace+"/pods/"+pod.Name+"/attach?container=app&stdout=true")
		done <- err
	}()
	awaitStage(t, c, u, "attach", auditv1.StageResponseStarted, nil)
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("attach: %v, want that it was ended", err)
	}
}

// stream opens a session at the URL over SPDY and returns what it printed.
func stream(ctx context.Context, u *kubernetes.User, location string) (string, error) {
	at, err := url.Parse(location)
	if err != nil {
		return "", err
	}
	executor, err := remotecommand.NewSPDYExecutor(u.Config, http.MethodPost, at)
	if err != nil {
		return "", err
	}
	var out bytes.Buffer
	if err := executor.StreamWithContext(ctx, remotecommand.StreamOptions{Stdout: &out}); err != nil {
		return "", err // what was cancelled may still write
	}
	return out.String(), nil
}

// post returns the answer to a POST of the URL.
func post(t *testing.T, u *kubernetes.User, location string) string {
	t.Helper()
	client, err := u.HTTP()
	if err != nil {
		t.Fatal(err)
	}
	answer, err := client.Post(location, "", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// forwardPort has kubectl forward a port of the pod until it says that it does.
func forwardPort(t *testing.T, u *kubernetes.User, pod *corev1.Pod) {
	t.Helper()
	program, err := parts.Find("kubectl")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cmd := exec.CommandContext(ctx, program, "port-forward", "pod/"+pod.Name, ":1")
	cmd.Env = append(os.Environ(), "KUBECONFIG="+u.Kubeconfig)
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		cancel()
		t.Fatal(err)
	}
	said := bufio.NewScanner(out)
	if !said.Scan() || !strings.HasPrefix(said.Text(), "Forwarding from") {
		t.Errorf("kubectl port-forward said %q", said.Text())
	}
	cancel()
	_ = cmd.Wait() // it was killed
}
