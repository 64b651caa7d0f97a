package kubeletauthz

import "strings"

// Mapper maps requests to attributes for one kubelet. Make it with [New]; it is a value, immutable and safe for concurrent
// use. The zero value maps as a kubelet without fine-grained authorization and without a node's name.
type Mapper struct {
	node     string
	fine     bool
	zpages   bool
	hardened bool
}

// Map returns the attributes for a request, in the order to ask them. It does not allocate.
//
// path is the decoded path, such as [net/url.URL]'s Path, and rawPath its RawPath, which is empty unless the request wrote
// the path in an unusual encoding. Neither is cleaned or changed; matching is case sensitive and by whole segments, so
// "/podsx" and "/Pods" are proxy. A path that is not [Clean] asks for proxy only, where upstream goes by its first segment.
//
// Source: KEP-2862, Proposal; for the paths the KEP does not name, the kubelet of each version.
func (m Mapper) Map(method, path, rawPath string) Attributes {
	a := Attributes{verb: verb(method), node: m.node, subresources: [2]string{subProxy}, n: 1}
	segment := firstSegment(path)
	own, shared := m.subresource(segment)
	if own == "" && !m.hardened {
		return a
	}
	clean := Clean(path, rawPath)
	if m.hardened && (!clean || runsCommands(segment)) {
		a.verb = verbCreate
	}
	if own == "" || !clean {
		return a
	}
	a.subresources[0] = own
	if shared {
		a.subresources[1], a.n = subProxy, 2
	}
	return a
}

// The subresources.
const (
	subCheckpoint = "checkpoint"
	subConfigz    = "configz"
	subHealthz    = "healthz"
	subLog        = "log"
	subMetrics    = "metrics"
	subPods       = "pods"
	subProxy      = "proxy"
	subStats      = "stats"
	subStatusz    = "statusz"
)

// subresource returns the finer subresource of a path's first segment, or "" when there is only proxy. shared says that
// proxy is asked after it: true for the subresources that the KEP adds, false for those that have always stood alone.
func (m Mapper) subresource(segment string) (own string, shared bool) {
	switch segment {
	case "stats":
		return subStats, false
	case "metrics":
		return subMetrics, false
	case "logs":
		return subLog, false
	case "checkpoint":
		return subCheckpoint, false
	}
	if m.zpages {
		switch segment {
		case "statusz":
			return subStatusz, false
		case "flagz":
			return subConfigz, false
		}
	}
	if m.fine {
		switch segment {
		case "pods", "runningpods":
			return subPods, true
		case "healthz":
			return subHealthz, true
		case "configz":
			return subConfigz, true
		}
	}
	return "", false
}

// runsCommands reports whether the handlers below a first segment reach into containers.
func runsCommands(segment string) bool {
	switch segment {
	case "exec", "attach", "run", "portForward":
		return true
	}
	return false
}

// firstSegment is what stands between the leading slash and the next one; "" for a path without a leading slash.
func firstSegment(path string) string {
	if path == "" || path[0] != '/' {
		return ""
	}
	path = path[1:]
	if i := strings.IndexByte(path, '/'); i >= 0 {
		return path[:i]
	}
	return path
}
