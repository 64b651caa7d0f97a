package e2e_test

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/portforward"
	"k8s.io/client-go/tools/remotecommand"
	"k8s.io/client-go/transport/spdy"
	"k8s.io/streaming/pkg/httpstream"

	"github.com/lanyard-dev/lanyard/examples/login"
	"github.com/lanyard-dev/lanyard/examples/stack"
	"github.com/lanyard-dev/lanyard/examples/testimage"
	"github.com/lanyard-dev/lanyard/execcredential/restconfig"
	"github.com/lanyard-dev/lanyard/execcredential/transport"
)

// streamAccess lets those who log in use pods and act as the user "readonly", who may only read them.
const streamAccess = loginAccess + `---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: streams}
rules:
- {apiGroups: [""], resources: [pods], verbs: [get, list]}
- {apiGroups: [""], resources: [pods/exec, pods/attach, pods/portforward], verbs: [get, create]}
- {apiGroups: [""], resources: [users], resourceNames: [readonly], verbs: [impersonate]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: streams}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: streams}
subjects:
- {apiGroup: rbac.authorization.k8s.io, kind: Group, name: login}
- {kind: ServiceAccount, name: login, namespace: default}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: readonly}
rules: [{apiGroups: [""], resources: [pods], verbs: [get, list]}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: readonly}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: readonly}
subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: readonly}]
`

// echoing is a pod whose program sends back its standard input.
const echoing = "echoing"

// TestExecCredentialStreams holds that a client that logs in through our transport opens sessions as one of client-go
// does.
func TestExecCredentialStreams(t *testing.T) {
	t.Parallel()
	l := newLoginsOn(t, stack.Options{Nodes: []stack.Node{{Name: ours}}}, streamAccess)
	attachable := pod(echoing, ours)
	attachable.Spec.Containers[0].Args, attachable.Spec.Containers[0].Stdin = []string{"echo"}, true
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	if _, err := l.run(ctx, attachable); err != nil {
		t.Fatal(err)
	}
	for _, kind := range []login.Kind{login.Certificate, login.Token} {
		config := configOf(t, l.user(t, "streams-"+string(kind), kind, lasting))
		for name, config := range map[string]*rest.Config{"client-go": config, "client-go through our transport": throughPool(t, config)} {
			for protocol, open := range executors {
				t.Run(fmt.Sprintf("ECR-29 %s execs over %s with a %s", name, protocol, kind), func(t *testing.T) {
					executor := open.of(t, config, ours, "exec", &corev1.PodExecOptions{Command: []string{testimage.Program, "echo"}, Stdin: true, Stdout: true})
					checkEcho(t, executor)
				})
				t.Run(fmt.Sprintf("ECR-29 %s attaches over %s with a %s", name, protocol, kind), func(t *testing.T) {
					executor := open.of(t, config, echoing, "attach", &corev1.PodAttachOptions{Stdin: true, Stdout: true})
					checkLine(t, executor)
				})
			}
			for protocol, dial := range forwarders {
				t.Run(fmt.Sprintf("ECR-29 %s forwards a port over %s with a %s", name, protocol, kind), func(t *testing.T) {
					checkForward(t, dial, config)
				})
			}
		}
	}
	t.Run("ECR-29 who acts as somebody weaker may no more than that one, with client-go and through our transport", func(t *testing.T) {
		config := configOf(t, l.user(t, "strong", login.Token, lasting))
		config.Impersonate.UserName = "readonly"
		for name, config := range map[string]*rest.Config{"client-go": config, "through our transport": throughPool(t, config)} {
			client, err := kubernetes.NewForConfig(config)
			if err != nil {
				t.Fatal(err)
			}
			if got := whoami(t, client); got != "readonly" {
				t.Errorf("%s: the server knows the user as %q, want readonly", name, got)
			}
			if _, err := client.CoreV1().Pods(metav1.NamespaceDefault).Get(t.Context(), ours, metav1.GetOptions{}); err != nil {
				t.Errorf("%s: reading a pod: %v", name, err)
			}
			if _, err := client.CoreV1().ConfigMaps(metav1.NamespaceDefault).List(t.Context(), metav1.ListOptions{}); !apierrors.IsForbidden(err) {
				t.Errorf("%s: reading what only the stronger user may: %v, want forbidden", name, err)
			}
			for protocol, open := range executors {
				executor := open.of(t, config, ours, "exec", &corev1.PodExecOptions{Command: []string{testimage.Program, "echo"}, Stdin: true, Stdout: true})
				var out bytes.Buffer
				err := executor.StreamWithContext(t.Context(), remotecommand.StreamOptions{Stdin: strings.NewReader("x"), Stdout: &out})
				if err == nil || !strings.Contains(err.Error(), "forbidden") {
					t.Errorf("%s over %s: exec = %v, want forbidden", name, protocol, err)
				}
			}
		}
	})
}

// throughPool returns the configuration of a client that logs in through our transport.
func throughPool(t *testing.T, config *rest.Config) *rest.Config {
	t.Helper()
	wrapped, source, err := restconfig.Wrap(config, newPool(t, transport.Options{}))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { source.Close() })
	return wrapped
}

// open makes an executor of client-go's.
type open func(config *rest.Config, address *url.URL) (remotecommand.Executor, error)

var executors = map[string]open{
	"SPDY": func(config *rest.Config, address *url.URL) (remotecommand.Executor, error) {
		return remotecommand.NewSPDYExecutor(config, http.MethodPost, address)
	},
	"WebSocket": func(config *rest.Config, address *url.URL) (remotecommand.Executor, error) {
		return remotecommand.NewWebSocketExecutor(config, http.MethodGet, address.String())
	},
}

func (o open) of(t *testing.T, config *rest.Config, pod, subresource string, options runtime.Object) remotecommand.Executor {
	t.Helper()
	executor, err := o(config, podURL(t, config, pod, subresource, options))
	if err != nil {
		t.Fatal(err)
	}
	return executor
}

func podURL(t *testing.T, config *rest.Config, pod, subresource string, options runtime.Object) *url.URL {
	t.Helper()
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	request := client.CoreV1().RESTClient().Post().Namespace(metav1.NamespaceDefault).Resource("pods").Name(pod).SubResource(subresource)
	if options != nil {
		request = request.VersionedParams(options, scheme.ParameterCodec)
	}
	return request.URL()
}

// checkEcho sends a text to a program that ends with its input, and wants it back.
func checkEcho(t *testing.T, executor remotecommand.Executor) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var out lockedBuffer
	err := executor.StreamWithContext(ctx, remotecommand.StreamOptions{Stdin: strings.NewReader("there and back"), Stdout: &out})
	if err != nil || out.String() != "there and back" {
		t.Errorf("stream = %v, answer %q, want what was sent", err, out.String())
	}
}

// checkLine sends a line to a program that goes on, and wants it back.
func checkLine(t *testing.T, executor remotecommand.Executor) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	inRead, inWrite := io.Pipe()
	outRead, outWrite := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		err := executor.StreamWithContext(ctx, remotecommand.StreamOptions{Stdin: inRead, Stdout: outWrite})
		_ = outWrite.CloseWithError(io.EOF)
		_ = inRead.Close()
		ended <- err
	}()
	fmt.Fprintln(inWrite, "there and back")
	line, err := bufio.NewReader(outRead).ReadString('\n')
	cancel()
	_ = outRead.Close()
	_ = inWrite.Close()
	ending := <-ended
	if line != "there and back\n" {
		t.Errorf("answer %q, %v, session %v, want what was sent", line, err, ending)
	}
}

// forwarders make a dialer of client-go's.
var forwarders = map[string]func(*rest.Config, *url.URL) (httpstream.Dialer, error){
	"SPDY": func(config *rest.Config, address *url.URL) (httpstream.Dialer, error) {
		rt, upgrader, err := spdy.RoundTripperFor(config)
		if err != nil {
			return nil, err
		}
		return spdy.NewDialerForStreaming(upgrader, &http.Client{Transport: rt}, http.MethodPost, address), nil
	},
	"WebSocket": func(config *rest.Config, address *url.URL) (httpstream.Dialer, error) {
		return portforward.NewSPDYOverWebsocketDialerForStreaming(address, config)
	},
}

// checkForward forwards a port of this test's, where the pod has the host's network, and sends a line through.
func checkForward(t *testing.T, dial func(*rest.Config, *url.URL) (httpstream.Dialer, error), config *rest.Config) {
	t.Helper()
	target, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer target.Close()
	go func() {
		if conn, err := target.Accept(); err == nil {
			_, _ = io.Copy(conn, conn)
			conn.Close()
		}
	}()
	dialer, err := dial(config, podURL(t, config, ours, "portforward", nil))
	if err != nil {
		t.Fatal(err)
	}
	stop, ready := make(chan struct{}), make(chan struct{})
	port := target.Addr().(*net.TCPAddr).Port
	forwarder, err := portforward.NewForStreaming(dialer, []string{fmt.Sprintf("0:%d", port)}, stop, ready, io.Discard, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- forwarder.ForwardPorts() }()
	select {
	case err := <-ended:
		t.Fatalf("ForwardPorts = %v", err)
	case <-ready:
	}
	defer func() {
		close(stop)
		<-ended
	}()
	ports, err := forwarder.GetPorts()
	if err != nil {
		t.Fatal(err)
	}
	conn, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", ports[0].Local))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprintln(conn, "there and back")
	if line, err := bufio.NewReader(conn).ReadString('\n'); err != nil || line != "there and back\n" {
		t.Errorf("answer %q, %v, want what was sent", line, err)
	}
}
