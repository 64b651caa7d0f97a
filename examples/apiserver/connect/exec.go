package connect

import (
	"context"
	"fmt"
	"net/http"
	"net/url"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/audit"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/apiserver/pkg/registry/rest"

	"github.com/lanyard-dev/lanyard/envprecedence"
	"github.com/lanyard-dev/lanyard/examples/apiserver/kinds"
	"github.com/lanyard-dev/lanyard/execaudit"
	execapi "github.com/lanyard-dev/lanyard/execaudit/apiserver"
)

// Exec is pods/exec: admission has seen and perhaps changed the options when Connect validates their Env, puts it and
// the audit ID into the kubelet's URL, and counts.
type Exec struct {
	// Pods finds the pod.
	Pods Pods
	// Authorizer decides whether a GET may open a session.
	Authorizer authorizer.Authorizer
	// Env validates, injects and counts.
	Env execapi.Exec
}

var _ rest.Connecter = (*Exec)(nil)

// New implements rest.Storage.
func (*Exec) New() runtime.Object { return &corev1.Pod{} }

// Destroy implements rest.Storage.
func (*Exec) Destroy() {}

// ConnectMethods implements rest.Connecter.
func (*Exec) ConnectMethods() []string { return sessionMethods[:] }

// NewConnectOptions implements rest.Connecter: with the gate off the options have no Env, and nobody sees one.
func (e *Exec) NewConnectOptions() (runtime.Object, bool, string) {
	if e.Env.Gates.ExecEnvVar {
		return &kinds.PodExecOptions{}, false, ""
	}
	return &corev1.PodExecOptions{}, false, ""
}

// Connect implements rest.Connecter.
func (e *Exec) Connect(ctx context.Context, name string, options runtime.Object, responder rest.Responder) (http.Handler, error) {
	if err := mayCreate(ctx, e.Authorizer); err != nil {
		return nil, err
	}
	o, err := readExec(options)
	if err != nil {
		return nil, err
	}
	envs, err := e.environment(ctx, o)
	if execaudit.FaultsOf(err) != nil {
		return nil, invalidExec(name, err)
	}
	if err != nil {
		return nil, err
	}
	location, err := e.location(ctx, name, o)
	if err != nil {
		return nil, err
	}
	location, _, err = e.Env.Inject(location, envs, auditID(ctx))
	if err != nil {
		return nil, apierrors.NewInternalError(err)
	}
	return session{e.Pods.Kubelets, location, streams{o.Stdin, o.Stdout, o.Stderr, o.TTY}, responder}, nil
}

// invalidExec is the answer to an exec with an environment that breaks the rules; err has execaudit.Faults.
func invalidExec(name string, err error) error {
	return apierrors.NewInvalid(corev1.SchemeGroupVersion.WithKind("PodExecOptions").GroupKind(), name, execapi.ErrorList(err, nil))
}

// environment returns the entries to send, or execaudit.Faults, every one at once. The faults of a request that cannot
// be read come from its own query, where every parameter stands at its place; net/url had left out some before the
// options were made.
func (e *Exec) environment(ctx context.Context, o *kinds.PodExecOptions) ([]envprecedence.Entry, error) {
	query, sent, err := queryOf(ctx)
	if err != nil {
		return nil, err
	}
	if sent {
		if _, err := e.Env.Decode(query); err != nil {
			return nil, err
		}
	}
	if err := readable(ctx); err != nil {
		return nil, err
	}
	envs, faults := e.Env.Validate(o.Env)
	return envs, execaudit.JoinFaults(o.Faults(), faults)
}

// location is the kubelet's URL before injection.
func (e *Exec) location(ctx context.Context, name string, o *kinds.PodExecOptions) (*url.URL, error) {
	pod, err := e.Pods.get(ctx, name)
	if err != nil {
		return nil, err
	}
	in, err := container(pod, o.Container)
	if err != nil {
		return nil, err
	}
	query := streams{o.Stdin, o.Stdout, o.Stderr, o.TTY}.query()
	query["command"] = o.Command
	return e.Pods.location(ctx, "exec", pod, in, query)
}

// readExec brings both forms of the options into the one that has Env.
func readExec(options runtime.Object) (*kinds.PodExecOptions, error) {
	switch o := options.(type) {
	case *kinds.PodExecOptions:
		return o, nil
	case *corev1.PodExecOptions:
		return &kinds.PodExecOptions{
			Stdin: o.Stdin, Stdout: o.Stdout, Stderr: o.Stderr, TTY: o.TTY, Container: o.Container, Command: o.Command,
		}, nil
	}
	return nil, apierrors.NewBadRequest(fmt.Sprintf("%T are not exec options", options))
}

// auditID returns the ID under which this request is audited, "" when it is not.
func auditID(ctx context.Context) string {
	id, _ := audit.AuditIDFrom(ctx)
	return string(id)
}
