// Package server is the kubelet's HTTPS API: the sessions that the API server
// proxies, the pods, their logs, health, configuration and metrics.
//
// Every path stands in the table of routes; nothing else is served. The guard
// around it authenticates and authorizes each request first.
package server

import (
	"encoding/json"
	"net/http"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/lanyard-dev/lanyard/examples/kubelet/pods"
	"github.com/lanyard-dev/lanyard/execaudit/kubelet"
	"github.com/lanyard-dev/lanyard/execaudit/negotiate"
)

// Options is what a Server works with; every field is needed.
type Options struct {
	Node    string
	Pods    *pods.Manager
	Runtime runtimeapi.RuntimeServiceClient
	Exec    kubelet.Exec
	Policy  *negotiate.Policy
	Metrics http.Handler
	Config  any    // what /configz shows
	LogDir  string // what /logs/ shows
	Healthy func() error
}

// Server answers requests; it is an http.Handler without any guard.
type Server struct {
	Options
	mux *http.ServeMux
}

// Route is one path of the API with the methods that it serves.
type Route struct {
	Pattern string // as http.ServeMux has it, without a method
	Methods []string
}

// New returns a server.
func New(o Options) *Server {
	s := &Server{Options: o, mux: http.NewServeMux()}
	for _, e := range s.table() {
		for _, method := range e.Methods {
			s.mux.HandleFunc(method+" "+e.Pattern, e.handle)
		}
	}
	return s
}

type entry struct {
	Route
	handle http.HandlerFunc
}

// Routes returns every path that the server serves.
func (s *Server) Routes() []Route {
	var out []Route
	for _, e := range s.table() {
		out = append(out, e.Route)
	}
	return out
}

func (s *Server) table() []entry {
	get, post := []string{http.MethodGet}, []string{http.MethodPost}
	stream := []string{http.MethodGet, http.MethodPost}
	return []entry{
		{Route{"/exec/{namespace}/{pod}/{container}", stream}, s.exec},
		{Route{"/exec/{namespace}/{pod}/{uid}/{container}", stream}, s.exec},
		{Route{"/attach/{namespace}/{pod}/{container}", stream}, s.attach},
		{Route{"/attach/{namespace}/{pod}/{uid}/{container}", stream}, s.attach},
		{Route{"/portForward/{namespace}/{pod}", stream}, s.portForward},
		{Route{"/portForward/{namespace}/{pod}/{uid}", stream}, s.portForward},
		{Route{"/run/{namespace}/{pod}/{container}", post}, s.run},
		{Route{"/run/{namespace}/{pod}/{uid}/{container}", post}, s.run},
		{Route{"/containerLogs/{namespace}/{pod}/{container}", get}, s.containerLogs},
		{Route{"/pods", get}, s.listPods},
		{Route{"/pods/{$}", get}, s.listPods},
		{Route{"/runningpods/", get}, s.runningPods},
		{Route{"/healthz", get}, s.healthz},
		{Route{"/healthz/ping", get}, ping},
		{Route{"/healthz/log", get}, ping},
		{Route{"/healthz/syncloop", get}, s.healthz},
		{Route{"/configz", get}, s.configz},
		{Route{"/metrics", get}, s.Metrics.ServeHTTP},
		{Route{"/logs/", get}, http.StripPrefix("/logs/", http.FileServer(http.Dir(s.LogDir))).ServeHTTP},
		{Route{"/stats/summary", get}, s.summary},
		{Route{"/checkpoint/{namespace}/{pod}/{container}", post}, notImplemented},
	}
}

// ServeHTTP answers a request that was let through.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.mux.ServeHTTP(w, r) }

// target is a running container that a request names.
type target struct {
	pod       *corev1.Pod
	container string // its ID in the runtime
}

func (s *Server) pod(r *http.Request) (*corev1.Pod, error) {
	return s.Pods.Lookup(r.PathValue("namespace"), r.PathValue("pod"), types.UID(r.PathValue("uid")))
}

func (s *Server) target(r *http.Request) (target, error) {
	pod, err := s.pod(r)
	if err != nil {
		return target{}, err
	}
	c, err := s.Pods.Container(r.Context(), pod, r.PathValue("container"), true)
	return target{pod, c.GetId()}, err
}

func (s *Server) listPods(w http.ResponseWriter, _ *http.Request) {
	list := corev1.PodList{TypeMeta: metav1.TypeMeta{Kind: "PodList", APIVersion: "v1"}}
	for _, pod := range s.Pods.Pods() {
		list.Items = append(list.Items, *pod)
	}
	answer(w, list)
}

func (s *Server) runningPods(w http.ResponseWriter, r *http.Request) {
	running, err := s.Pods.Running(r.Context())
	if err != nil {
		fail(w, err)
		return
	}
	list := corev1.PodList{TypeMeta: metav1.TypeMeta{Kind: "PodList", APIVersion: "v1"}}
	for _, pod := range running {
		list.Items = append(list.Items, *pod)
	}
	answer(w, list)
}

func (s *Server) healthz(w http.ResponseWriter, r *http.Request) {
	if err := s.Healthy(); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	ping(w, r)
}

func ping(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("ok")) }

func (s *Server) configz(w http.ResponseWriter, _ *http.Request) {
	answer(w, map[string]any{"kubeletconfig": s.Config})
}

func notImplemented(w http.ResponseWriter, _ *http.Request) {
	http.Error(w, "checkpoints are not implemented by this kubelet", http.StatusNotImplemented)
}

func answer(w http.ResponseWriter, value any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(value)
}
