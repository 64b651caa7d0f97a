package admission_test

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/lanyard-dev/lanyard/execaudit/bridge"
	"github.com/lanyard-dev/lanyard/execaudit/bridge/admission"
	"github.com/lanyard-dev/lanyard/execaudit/bridge/readiness"
	"github.com/lanyard-dev/lanyard/execaudit/bridge/token"
)

var (
	now     = time.Date(2026, 11, 22, 12, 0, 0, 500_000_000, time.UTC)
	oldKey  = token.NewKey()
	newKey  = token.NewKey()
	signer  = admission.NewSigner(newKey, oldKey)
	session = bridge.SessionID{6: 0x40, 8: 0x80, 15: 1}
	nonce   = [16]byte{1, 2, 3}
)

// pod is a pod with two containers, an init and an ephemeral container, all of which run.
func pod() *corev1.Pod {
	started := metav1.NewTime(now.Add(-time.Hour))
	running := func(name string) corev1.ContainerStatus {
		return corev1.ContainerStatus{Name: name, State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: started}}}
	}
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "cart", UID: "8b8b8b8b-0000-4000-8000-000000000001"},
		Spec: corev1.PodSpec{
			NodeName:            "n1",
			Containers:          []corev1.Container{{Name: "app"}, {Name: "proxy"}},
			InitContainers:      []corev1.Container{{Name: "sidecar"}},
			EphemeralContainers: []corev1.EphemeralContainer{{EphemeralContainerCommon: corev1.EphemeralContainerCommon{Name: "debugger"}}},
		},
		Status: corev1.PodStatus{
			StartTime:                  &started,
			ContainerStatuses:          []corev1.ContainerStatus{running("proxy"), running("app")},
			InitContainerStatuses:      []corev1.ContainerStatus{running("sidecar")},
			EphemeralContainerStatuses: []corev1.ContainerStatus{running("debugger")},
		},
	}
}

// known is what is known where everything is ready.
func known(change ...func(*corev1.Pod)) admission.Known {
	p := pod()
	for _, c := range change {
		c(p)
	}
	return admission.Known{Pod: admission.PodOf(p), Lease: lease()}
}

func lease() *readiness.Lease {
	return &readiness.Lease{
		Readiness: readiness.Readiness{
			Keys:     []string{oldKey.Public().ID().String(), newKey.Public().ID().String()},
			Handlers: map[string]readiness.Handler{"": {Since: now.Add(-2 * time.Hour), Mode: readiness.ModeDropIn}},
		},
		Renewed: now.Add(-time.Second), Duration: 40 * time.Second,
	}
}

var alice = authenticationv1.UserInfo{
	Username: "alice", UID: "a-1", Groups: []string{"dev", "system:authenticated"},
	Extra: map[string]authenticationv1.ExtraValue{"scopes": {"x"}},
}

var bob = authenticationv1.UserInfo{Username: "bob", Groups: []string{"dev", "system:authenticated"}}

func execOptions(container string, command ...string) *corev1.PodExecOptions {
	return &corev1.PodExecOptions{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "PodExecOptions"}, Stdout: true, Stderr: true,
		Container: container, Command: command,
	}
}

// connect is a request as the API server makes it.
func connect(subresource string, user authenticationv1.UserInfo, options any) *admissionv1.AdmissionRequest {
	raw, err := json.Marshal(options)
	if err != nil {
		panic(err)
	}
	dry := false
	return &admissionv1.AdmissionRequest{
		UID: "705ab4f5-6393-11e8-b7cc-42010a800002", Operation: admissionv1.Connect, Namespace: "shop", Name: "cart",
		Kind:     metav1.GroupVersionKind{Version: "v1", Kind: "PodExecOptions"},
		Resource: metav1.GroupVersionResource{Version: "v1", Resource: "pods"}, SubResource: subresource,
		UserInfo: user, Object: runtime.RawExtension{Raw: raw}, DryRun: &dry,
	}
}

func exec(user authenticationv1.UserInfo, command ...string) *admissionv1.AdmissionRequest {
	return connect("exec", user, execOptions("app", command...))
}

// failer is a test or a check of rapid's.
type failer interface {
	Helper()
	Fatal(...any)
	Fatalf(string, ...any)
}

func input(t failer, r *admissionv1.AdmissionRequest, k admission.Known) admission.Input {
	t.Helper()
	request, err := admission.Read(r)
	if err != nil {
		t.Fatal(err)
	}
	return admission.Input{Request: request, Known: k, Session: session, Nonce: nonce, Now: now}
}

// patched returns the command after the patch, as a JSON patch is applied.
func patched(t failer, d admission.Decision, command []string) []string {
	t.Helper()
	command = slices.Clone(command)
	for _, op := range d.Patch {
		at, err := strconv.Atoi(strings.TrimPrefix(op.Path, "/command/"))
		switch {
		case err == nil && op.Op == "add":
			command = slices.Insert(command, at, op.Value.(string))
		case err == nil && op.Op == "remove":
			command = slices.Delete(command, at, at+1)
		default:
			t.Fatalf("operation %+v", op)
		}
	}
	return command
}

// signed returns the command of an exec after the mutating webhook, and the token in it.
func signed(t failer, user authenticationv1.UserInfo, command ...string) ([]string, token.Token) {
	t.Helper()
	d := admission.Decide(input(t, exec(user, command...), known()), admission.Policy{}, signer)
	if !d.Allowed || d.Outcome != bridge.OutcomeMarked {
		t.Fatalf("Decide = %+v, want a marked exec", d)
	}
	out := patched(t, d, command)
	got, err := signer.Public().Verify(out[0], now, 0)
	if err != nil {
		t.Fatal(err)
	}
	return out, got
}
