package kubeletauthz

import "strings"

// Mapper maps requests to attributes for one kubelet. Make it with [New]; it is an immutable value, safe for concurrent
// use. The zero value maps like a kubelet without fine-grained authorization, and without a node's name.
type Mapper struct {
	node string
	has  feature
}

// Map returns the attributes for a request, in the order to ask them. It does not allocate.
//
// path is the decoded path, such as [net/url.URL]'s Path, and rawPath its RawPath, which is empty unless the request
// wrote the path in an unusual encoding. Neither is cleaned or changed; matching is case sensitive and by whole
// segments, so "/podsx" and "/Pods" are proxy. A path that is not [Clean] asks for proxy only; upstream goes by its
// first segment.
//
// Source: KEP-2862, Proposal; for the paths the KEP does not name, the kubelet of each version.
func (m Mapper) Map(method, path, rawPath string) Attributes {
	a := Attributes{node: m.node, verb: verbOf(method), first: subProxy}
	f := familyOf(firstSegment(path))
	hardened := m.has&featureHardened != 0
	if m.has&f.needs != f.needs {
		f = family{}
	}
	if f.own == subNone && !hardened {
		return a
	}
	clean := Clean(path, rawPath)
	if hardened && (f.commands || !clean) {
		a.verb = verbCreate
	}
	if f.own == subNone || !clean {
		return a
	}
	a.first = f.own
	if f.shared {
		a.second = subProxy
	}
	return a
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
