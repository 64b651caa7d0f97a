package apiserver

import (
	"errors"
	"net/http"
	"net/url"
	"path"
	"strings"

	"github.com/lanyard-dev/lanyard/execaudit"
)

// ErrProxiedBody is returned by InjectProxied for a request with a body: a kubelet may read a form in it as parameters
// of the exec (http.Request.FormValue does), where nobody validates them.
var ErrProxiedBody = errors.New("an exec through nodes/proxy must not have a body")

// InjectProxied is Decode, Validate and Inject for a request that a connector proxies through nodes/NAME/proxy, which
// may be an exec that no PodExecOptions describe. r is the request as the client sent it. location is where it goes:
// the kubelet's address and, as Path, what follows proxy/, decoded once; its RawQuery is ignored.
//
// It returns location with the query to send. For an exec that is r's own, every parameter untouched and in place, and
// with both gates on env=KUBERNETES_EXEC_AUDIT_ID=<id> after them, by the rules of Inject, whose result is returned and
// recorded. For every other path it is r's own and nothing more, the result is "" and nothing is recorded. Neither r
// nor location is changed. A proxy that takes the query from the request, as apimachinery's UpgradeAwareHandler does
// where it does not upgrade, needs it there too.
//
// A path counts as exec when its first element is exec, whatever the method, and also when it is not clean or still
// holds a percent escape, because the kubelet behind may read it so.
//
// For an exec the error is ErrProxiedBody where r has a body, or execaudit.Faults: with the gate ExecEnvVar on every
// fault that Decode and Validate find in r's query; and with any gates, since a kubelet's may be on when the API
// server's is off, those of execaudit.ReservedInQuery. Nothing is recorded then.
//
// /run and /attach of a kubelet carry no environment (KEP-6035, Scope), so they carry no audit ID either.
//
// Source: beyond KEP-6035, which leaves nodes/proxy open.
func (e Exec) InjectProxied(r *http.Request, location *url.URL, auditID string) (*url.URL, Result, error) {
	proxied := *location
	proxied.RawQuery = r.URL.RawQuery
	if !mayServeExec(location.Path) {
		return &proxied, "", nil
	}
	if r.ContentLength != 0 {
		return nil, "", ErrProxiedBody
	}
	if err := e.checkProxied(r.URL.RawQuery); err != nil {
		return nil, "", err
	}
	return e.Inject(&proxied, nil, auditID)
}

func (e Exec) checkProxied(rawQuery string) error {
	envs, err := e.Decode(rawQuery)
	if err != nil {
		return err
	}
	if _, err := e.Validate(envs); err != nil {
		return err
	}
	return execaudit.ReservedInQuery(rawQuery, e.Reserved)
}

// mayServeExec wants what follows proxy/, decoded, with or without a slash in front.
func mayServeExec(proxied string) bool {
	proxied = "/" + strings.TrimPrefix(proxied, "/")
	clean := path.Clean(proxied)
	return strings.Contains(proxied, "%") ||
		clean != proxied && clean != strings.TrimSuffix(proxied, "/") ||
		clean == "/exec" || strings.HasPrefix(clean, "/exec/")
}
