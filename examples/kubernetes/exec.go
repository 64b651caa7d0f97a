package kubernetes

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/remotecommand"
	utilexec "k8s.io/utils/exec"

	"github.com/lanyard-dev/lanyard/examples/parts"
)

// Session is one exec session.
type Session struct {
	Namespace string // if empty, the default one
	Pod       string
	Container string // if empty, the pod's default
	Command   []string
	Stdin     io.Reader // nil for none
	TTY       bool
}

// Result is what a command printed and how it ended.
type Result struct {
	Stdout, Stderr string
	Code           int
}

// Exec runs the session as the user, with client-go over WebSocket, to its end. An exit code other than 0 is in the
// result, and is not an error.
func (u *User) Exec(ctx context.Context, s Session) (Result, error) {
	client, err := u.Client()
	if err != nil {
		return Result{}, err
	}
	if s.Namespace == "" {
		s.Namespace = metav1.NamespaceDefault
	}
	url := client.CoreV1().RESTClient().Post().Resource("pods").Namespace(s.Namespace).Name(s.Pod).SubResource("exec").
		VersionedParams(&corev1.PodExecOptions{
			Container: s.Container, Command: s.Command, Stdin: s.Stdin != nil, Stdout: true, Stderr: !s.TTY, TTY: s.TTY,
		}, scheme.ParameterCodec).URL()
	executor, err := remotecommand.NewWebSocketExecutor(u.Config, "GET", url.String())
	if err != nil {
		return Result{}, err
	}
	var out, errs bytes.Buffer
	options := remotecommand.StreamOptions{Stdin: s.Stdin, Stdout: &out, Stderr: &errs, Tty: s.TTY}
	if s.TTY {
		options.Stderr = nil
	}
	err = executor.StreamWithContext(ctx, options)
	result := Result{Stdout: out.String(), Stderr: errs.String()}
	var exit utilexec.ExitError
	if errors.As(err, &exit) {
		result.Code, err = exit.ExitStatus(), nil
	}
	return result, err
}

// Kubectl runs the real kubectl as the user, to its end. An exit code other than 0 is in the result, and is not an
// error.
func (u *User) Kubectl(ctx context.Context, args ...string) (Result, error) {
	program, err := parts.Find("kubectl")
	if err != nil {
		return Result{}, err
	}
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Env = append(os.Environ(), "KUBECONFIG="+u.Kubeconfig, "HOME="+u.cluster.dir, "PATH="+filepath.Dir(program)+":"+os.Getenv("PATH"))
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil && cmd.ProcessState == nil {
		return Result{}, err
	}
	return Result{Stdout: out.String(), Stderr: errs.String(), Code: cmd.ProcessState.ExitCode()}, nil
}
