package apiserver

import (
	"net/http"
	"net/url"
	"path"
	"strings"

	"github.com/lanyard-dev/lanyard/execaudit"
)

// CheckProxied returns execaudit.Faults, those of a request that the API server is asked to
// proxy through nodes/NAME/proxy to the kubelet's exec endpoint, where
// validation of PodExecOptions would not see it: every env parameter that
// carries a reserved name, and every one that cannot be read. It returns nil
// for all other URLs.
//
// A proxied path that is not clean, or still holds a percent escape once
// decoded, counts as exec, because the kubelet behind may read it so. The gates do not
// matter: a kubelet may have its gate on when the API server's is off.
//
// Source: beyond KEP-6035, which leaves nodes/proxy open.
func CheckProxied(u *url.URL, reserved execaudit.Reserved) error {
	if !proxiesExec(u.Path) {
		return nil
	}
	return execaudit.ReservedInQuery(u.RawQuery, reserved)
}

// WithProxyCheck returns a handler that hands every request to next, but for
// those in which CheckProxied finds faults: these it hands to refuse, which
// answers them, usually with a Status of code 403.
func WithProxyCheck(next http.Handler, reserved execaudit.Reserved,
	refuse func(http.ResponseWriter, *http.Request, error),
) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := CheckProxied(r.URL, reserved); err != nil {
			refuse(w, r, err)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// proxiesExec wants the decoded path, which is what the API server routes by.
func proxiesExec(decoded string) bool {
	_, node, found := strings.Cut(decoded, "/nodes/")
	if !found {
		return false
	}
	_, subresource, _ := strings.Cut(node, "/")
	proxied, found := strings.CutPrefix(subresource, "proxy/")
	return found && mayServeExec(proxied)
}

// mayServeExec wants what follows proxy/.
func mayServeExec(proxied string) bool {
	clean := path.Clean("/" + proxied)
	return strings.Contains(proxied, "%") ||
		clean != "/"+strings.TrimSuffix(proxied, "/") ||
		clean == "/exec" || strings.HasPrefix(clean, "/exec/")
}
