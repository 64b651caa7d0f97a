package kubeletauthz

// Endpoint is one route of the kubelet's API, for documentation and tools; only [Mapper.Map] decides about
// authorization.
type Endpoint struct {
	// Method is an HTTP method. A route with several methods is listed once for each.
	Method string
	// Path is the route, with {name} for what varies.
	Path string
	// Since is the first version from 1.31 on that can serve it.
	Since Minor
	// Answers says in a few words what the route returns or does.
	Answers string
}

// Endpoints returns the routes that a kubelet of 1.31 to 1.37 can serve, in a new slice, ordered by topic: state,
// metrics, logs, debugging, then what reaches into containers. Some depend on kubelet settings and gates. Source:
// KEP-2862, Goals.
func Endpoints() []Endpoint {
	const o = MinorOldest
	return []Endpoint{
		{"GET", "/pods", o, "the pods bound to the node, as a v1 PodList"},
		{"GET", "/allocatedPods", allocatedMinor, "the pods with the resources allocated to them, as a v1 PodList (gate KubeletAllocatedPodsEndpoint)"},
		{"GET", "/runningpods/", o, "the pods the container runtime runs, as a v1 PodList"},
		{"GET", "/healthz", o, "ok when every check passes"},
		{"GET", "/healthz/ping", o, "ok when the kubelet answers"},
		{"GET", "/healthz/log", o, "ok when the kubelet can write its log"},
		{"GET", "/healthz/syncloop", o, "ok when the pod sync loop is not stuck"},
		{"GET", "/configz", o, "the kubelet's running configuration"},
		{"GET", "/statusz", betaMinor, "version, start time and paths (gate ComponentStatusz)"},
		{"GET", "/flagz", betaMinor, "the kubelet's command-line flags (gate ComponentFlagz)"},
		{"GET", "/stats/summary", o, "CPU, memory, network and file system use of node and pods"},
		{"POST", "/stats/summary", o, "the same"},
		{"GET", "/metrics", o, "the kubelet's own metrics"},
		{"GET", "/metrics/cadvisor", o, "container metrics"},
		{"GET", "/metrics/resource", o, "CPU and memory of node and pods"},
		{"GET", "/metrics/probes", o, "results of liveness, readiness and startup probes"},
		{"GET", "/metrics/slis", o, "health checks as metrics"},
		{"GET", "/logs/", o, "the node's log directory"},
		{"GET", "/logs/{path}", o, "one file of the node's log directory"},
		{"GET", "/containerLogs/{namespace}/{pod}/{container}", o, "a container's log"},
		{"GET", "/debug/pprof/{profile}", o, "a profile of the kubelet"},
		{"PUT", "/debug/flags/v", o, "sets the kubelet's log verbosity"},
		{"POST", "/checkpoint/{namespace}/{pod}/{container}", o, "checkpoints a container to disk"},
		{"GET", "/exec/{namespace}/{pod}/{container}", o, "runs a command in a container, over a WebSocket"},
		{"POST", "/exec/{namespace}/{pod}/{container}", o, "runs a command in a container"},
		{"POST", "/run/{namespace}/{pod}/{container}", o, "runs a command in a container and returns its output"},
		{"GET", "/attach/{namespace}/{pod}/{container}", o, "attaches to a container's process, over a WebSocket"},
		{"POST", "/attach/{namespace}/{pod}/{container}", o, "attaches to a container's process"},
		{"GET", "/portForward/{namespace}/{pod}", o, "opens connections to a pod's ports, over a WebSocket"},
		{"POST", "/portForward/{namespace}/{pod}", o, "opens connections to a pod's ports"},
	}
}
