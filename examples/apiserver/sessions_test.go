package apiserver_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/remotecommand"
)

// session is one exec as a client of the API sees it.
type session struct {
	pod     string
	path    string // where the session is asked for; "" is pods/exec of the pod
	query   string // as it stands in the URL, beside what every session has
	stdin   io.Reader
	stdout  io.Writer
	spdy    bool
	header  http.Header
	timeout time.Duration
}

// exec runs a command and returns what it printed.
func (c *cluster) exec(t testing.TB, config *rest.Config, s session, command ...string) (string, error) {
	t.Helper()
	var out bytes.Buffer
	if s.stdout == nil {
		s.stdout = &out
	}
	if s.timeout == 0 {
		s.timeout = 20 * time.Second
	}
	ctx, cancel := context.WithTimeout(context.Background(), s.timeout)
	defer cancel()
	err := executor(t, config, s, c.execURL(s, command...)).StreamWithContext(ctx, remotecommand.StreamOptions{Stdin: s.stdin, Stdout: s.stdout})
	return out.String(), err
}

func (c *cluster) execURL(s session, command ...string) string {
	if s.path != "" {
		return c.URL() + s.path + "?" + url.Values{"output": {"1"}, "command": command}.Encode() + s.query
	}
	q := url.Values{"stdout": {"true"}, "command": command}
	if s.stdin != nil {
		q.Set("stdin", "true")
	}
	text := q.Encode()
	if s.query != "" {
		text += "&" + s.query
	}
	if s.pod == "" {
		s.pod = "one"
	}
	return c.URL() + "/api/v1/namespaces/default/pods/" + s.pod + "/exec?" + text
}

func executor(t testing.TB, config *rest.Config, s session, location string) remotecommand.Executor {
	t.Helper()
	config = rest.CopyConfig(config)
	config.Wrap(func(next http.RoundTripper) http.RoundTripper { return headers{next, s.header} })
	if s.spdy {
		return must(remotecommand.NewSPDYExecutor(config, "POST", must(url.Parse(location))(t)))(t)
	}
	if s.path != "" { // the kubelet itself answers, with the protocols that it has
		return must(remotecommand.NewWebSocketExecutorForProtocols(config, "GET", location, "v4.channel.k8s.io"))(t)
	}
	return must(remotecommand.NewWebSocketExecutor(config, "GET", location))(t)
}

// headers adds headers to every request.
type headers struct {
	next  http.RoundTripper
	added http.Header
}

func (h headers) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	for name, values := range h.added {
		r.Header[name] = values
	}
	return h.next.RoundTrip(r)
}

// refusal is how the server answers an exec request that opens no session, so that its Status can be read whole.
func (c *cluster) refusal(t testing.TB, s session, command ...string) *apierrors.StatusError {
	t.Helper()
	location := must(url.Parse(c.execURL(s, command...)))(t)
	client := c.client(t, c.admin()).CoreV1().RESTClient()
	err := client.Post().RequestURI(location.RequestURI()).Do(context.Background()).Error()
	status, ok := errors.AsType[*apierrors.StatusError](err)
	if !ok {
		t.Fatalf("exec %s = %v, want a Status", s.query, err)
	}
	return status
}

// counter returns apiserver_exec_audit_id_injected_total by result.
func (c *cluster) counter(t testing.TB) map[string]string {
	t.Helper()
	text := must(c.client(t, c.admin()).CoreV1().RESTClient().Get().AbsPath("/metrics").DoRaw(context.Background()))(t)
	found := map[string]string{}
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, `apiserver_exec_audit_id_injected_total{result="`); ok {
			result, value, _ := strings.Cut(strings.TrimSpace(rest), `"} `)
			found[result] = value
		}
	}
	return found
}
