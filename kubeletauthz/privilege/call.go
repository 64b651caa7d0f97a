package privilege

import (
	"errors"
	"fmt"
	"strings"

	"github.com/lanyard-dev/lanyard/kubeletauthz"
)

// Call is one request that an agent makes to a kubelet.
type Call struct {
	// Method is the HTTP method.
	Method string
	// Path is the kubelet's path, such as "/pods".
	Path string
	// Proxied reports whether the call goes through the API server's node proxy.
	Proxied bool
}

// ErrCall says that a text is not a call.
var ErrCall = errors.New("not a call: want an optional HTTP method and a path")

// nodesPath is where the API server's node proxy begins; a node and "/proxy" follow.
const nodesPath = "/api/v1/nodes/"

// ParseCall reads "GET /pods", or "/pods" for a GET. A path of the API server's node proxy, such as
// "/api/v1/nodes/{node}/proxy/pods", is a proxied call of what follows.
//
// It returns an error that wraps [ErrCall] for anything else, such as a method in lower case or a relative path.
func ParseCall(text string) (Call, error) {
	method, path := "GET", strings.TrimSpace(text)
	if i := strings.IndexAny(path, " \t"); i >= 0 {
		method, path = path[:i], strings.TrimSpace(path[i:])
	}
	if method == "" || strings.Trim(method, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") != "" || !strings.HasPrefix(path, "/") || strings.ContainsAny(path, " \t?#") {
		return Call{}, fmt.Errorf("%q: %w", text, ErrCall)
	}
	c := Call{Method: method, Path: path}
	if rest, found := strings.CutPrefix(path, nodesPath); found {
		_, below, _ := strings.Cut(rest, "/")
		if kubelet, found := strings.CutPrefix(below, "proxy"); found && (kubelet == "" || kubelet[0] == '/') {
			c.Path, c.Proxied = "/"+strings.TrimPrefix(kubelet, "/"), true
		}
	}
	return c, nil
}

// String returns what ParseCall reads, with {node} for the node of a proxied call.
func (c Call) String() string {
	if c.Proxied {
		return c.Method + " " + nodesPath + "{node}/proxy" + c.Path
	}
	return c.Method + " " + c.Path
}

// Asks returns what is asked about the call in the order of asking, by the kubelet or, for a proxied call, by the API
// server.
func (c Call) Asks(m kubeletauthz.Mapper) []Need {
	if c.Proxied {
		return []Need{{Verb: proxyVerb(c.Method), Subresource: proxy}}
	}
	var asks []Need
	for a := range m.Map(c.Method, c.Path, "").All() {
		asks = append(asks, Need{Verb: a.Verb, Subresource: a.Subresource})
	}
	return asks
}

// proxyVerb is the API server's verb for a request to a subresource of one object. It differs from the kubelet's in
// HEAD.
func proxyVerb(method string) string {
	switch method {
	case "GET", "HEAD":
		return "get"
	case "POST":
		return "create"
	case "PUT":
		return "update"
	case "PATCH":
		return "patch"
	case "DELETE":
		return "delete"
	}
	return ""
}
