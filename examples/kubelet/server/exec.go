package server

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/proxy"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/lanyard-dev/lanyard/envprecedence"
	"github.com/lanyard-dev/lanyard/examples/rawquery"
	"github.com/lanyard-dev/lanyard/execaudit/criwire"
	"github.com/lanyard-dev/lanyard/execaudit/kubelet"
	"github.com/lanyard-dev/lanyard/execaudit/negotiate"
	"github.com/lanyard-dev/lanyard/kubeletauthz/middleware"
)

// exec answers /exec: it reads the environment from the URL, hands it to the
// runtime with the Exec call, and splices the client to the stream that the
// runtime returns. Nothing can be added once the streams are spliced.
func (s *Server) exec(w http.ResponseWriter, r *http.Request) {
	query, err := readable(r)
	if err != nil {
		fail(w, err)
		return
	}
	target, err := s.target(r)
	if err != nil {
		fail(w, err)
		return
	}
	envs, err := s.environment(r, target.pod)
	if err != nil {
		fail(w, err)
		return
	}
	o := streams(query)
	req := &runtimeapi.ExecRequest{
		ContainerId: target.container, Cmd: query["command"],
		Stdin: o.stdin, Stdout: o.stdout, Stderr: o.stderr, Tty: o.tty,
	}
	if err := criwire.Write(req, envs); err != nil {
		fail(w, apierrors.NewBadRequest(err.Error()))
		return
	}
	resp, err := s.Runtime.Exec(r.Context(), req)
	s.splice(w, r, resp.GetUrl(), err)
}

// readable returns a request's parameters, or an error when one of them cannot be read: net/url leaves such a one out.
func readable(r *http.Request) (url.Values, error) {
	if err := rawquery.Check(r.URL.RawQuery); err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	return r.URL.Query(), nil
}

// environment returns what goes into ExecRequest.envs; nil when the gate is off or
// there is nothing.
func (s *Server) environment(r *http.Request, pod *corev1.Pod) ([]envprecedence.Entry, error) {
	user, _ := middleware.User(r.Context())
	asked, err := s.Exec.Read(r.URL.RawQuery, kubelet.Identity{Name: user.Name, Groups: user.Groups})
	if err != nil {
		return nil, err
	}
	envs := kubelet.Resolve(nil, asked, s.Exec.Reserved)
	if len(envs) == 0 {
		return nil, nil
	}
	supported, err := s.supportsEnvs(r.Context(), pod)
	if err != nil {
		return nil, err
	}
	session := negotiate.Pod{Namespace: pod.Namespace, Name: pod.Name, UID: string(pod.UID)}
	return envs, s.Policy.Admit(r.Context(), supported, envs, session)
}

// supportsEnvs asks the runtime about the pod's runtime handler, each time: it may have been replaced since the
// last session, and the answer costs less than a wrong one.
func (s *Server) supportsEnvs(ctx context.Context, pod *corev1.Pod) (bool, error) {
	status, err := s.Runtime.Status(ctx, &runtimeapi.StatusRequest{})
	if err != nil {
		return false, err
	}
	return negotiate.Supported(status, s.Pods.Handler(pod)), nil
}

func (s *Server) attach(w http.ResponseWriter, r *http.Request) {
	query, err := readable(r)
	if err != nil {
		fail(w, err)
		return
	}
	target, err := s.target(r)
	if err != nil {
		fail(w, err)
		return
	}
	o := streams(query)
	resp, err := s.Runtime.Attach(r.Context(), &runtimeapi.AttachRequest{
		ContainerId: target.container, Stdin: o.stdin, Stdout: o.stdout, Stderr: o.stderr, Tty: o.tty,
	})
	s.splice(w, r, resp.GetUrl(), err)
}

func (s *Server) portForward(w http.ResponseWriter, r *http.Request) {
	pod, err := s.pod(r)
	if err != nil {
		fail(w, err)
		return
	}
	sandbox, err := s.Pods.Sandbox(r.Context(), pod)
	if err != nil {
		fail(w, err)
		return
	}
	resp, err := s.Runtime.PortForward(r.Context(), &runtimeapi.PortForwardRequest{PodSandboxId: sandbox})
	s.splice(w, r, resp.GetUrl(), err)
}

// run answers /run: one command without a stream, its whole output as the answer.
func (s *Server) run(w http.ResponseWriter, r *http.Request) {
	query, err := readable(r)
	if err != nil {
		fail(w, err)
		return
	}
	target, err := s.target(r)
	if err != nil {
		fail(w, err)
		return
	}
	resp, err := s.Runtime.ExecSync(r.Context(), &runtimeapi.ExecSyncRequest{ContainerId: target.container, Cmd: command(query)})
	if err != nil {
		fail(w, err)
		return
	}
	if resp.GetExitCode() != 0 {
		w.WriteHeader(http.StatusInternalServerError)
	}
	_, _ = w.Write(append(resp.GetStdout(), resp.GetStderr()...))
}

// command returns the command of /run, which takes it as one parameter cmd.
func command(query url.Values) []string {
	if cmd := query.Get("cmd"); cmd != "" {
		return strings.Fields(cmd)
	}
	return query["command"]
}

// options are the streams that a session opens.
type options struct{ stdin, stdout, stderr, tty bool }

func streams(query url.Values) options {
	on := func(name string) bool { return query.Get(name) == "1" || query.Get(name) == "true" }
	return options{stdin: on("input"), stdout: on("output"), stderr: on("error") && !on("tty"), tty: on("tty")}
}

// splice connects the client to the stream behind address.
func (s *Server) splice(w http.ResponseWriter, r *http.Request, address string, err error) {
	if err != nil {
		fail(w, err)
		return
	}
	location, err := url.Parse(address)
	if err != nil {
		fail(w, errors.New("the runtime returned an address that is none"))
		return
	}
	proxy.NewUpgradeAwareHandler(location, nil, false, true, responder{}).ServeHTTP(w, r)
}

// responder answers when the splice fails before the streams are connected.
type responder struct{}

func (responder) Error(w http.ResponseWriter, _ *http.Request, err error) { fail(w, err) }
