package main

import (
	"context"
	"io"
	"net/url"

	restclient "k8s.io/client-go/rest"
	"k8s.io/client-go/tools/remotecommand"
	"k8s.io/kubectl/pkg/cmd/exec"

	"github.com/lanyard-dev/lanyard/execaudit"
)

// executor is kubectl's own with the environment in the URL.
type executor struct {
	exec.DefaultRemoteExecutor
	envs *execaudit.EnvFlag
}

var _ exec.RemoteExecutor = (*executor)(nil)

// Execute implements exec.RemoteExecutor.
func (e *executor) Execute(location *url.URL, config *restclient.Config, stdin io.Reader, stdout, stderr io.Writer, tty bool, sizes remotecommand.TerminalSizeQueue) error {
	return e.ExecuteWithContext(context.Background(), location, config, stdin, stdout, stderr, tty, sizes)
}

// ExecuteWithContext implements exec.RemoteExecutor. Without --env it is plain kubectl exec, and asks nothing before.
func (e *executor) ExecuteWithContext(ctx context.Context, location *url.URL, config *restclient.Config, stdin io.Reader, stdout, stderr io.Writer, tty bool, sizes remotecommand.TerminalSizeQueue) error {
	if len(e.envs.Envs()) > 0 {
		if err := probe(ctx, location, config); err != nil {
			return err
		}
		query, err := execaudit.EncodeQuery(e.envs.Envs())
		if err != nil {
			return err
		}
		location = withQuery(location, query)
	}
	return e.DefaultRemoteExecutor.ExecuteWithContext(ctx, location, config, stdin, stdout, stderr, tty, sizes)
}

// withQuery returns a copy of a URL with more parameters at the end.
func withQuery(location *url.URL, query string) *url.URL {
	c := *location
	if c.RawQuery != "" {
		c.RawQuery += "&"
	}
	c.RawQuery += query
	return &c
}
