package connect

import (
	"net/http"
	"net/url"

	utilproxy "k8s.io/apimachinery/pkg/util/proxy"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/apiserver/pkg/util/proxy"
	"k8s.io/streaming/pkg/httpstream/wsstream"
)

// streams are those that a session asks for.
type streams struct {
	stdin, stdout, stderr, tty bool
}

// query returns the parameters by which kubelets know them.
func (s streams) query() url.Values {
	q := url.Values{}
	for name, wanted := range map[string]bool{"input": s.stdin, "output": s.stdout, "error": s.stderr, "tty": s.tty} {
		if wanted {
			q.Set(name, "1")
		}
	}
	return q
}

// forwardHandler proxies a port-forward, whose SPDY frames today's clients send through a WebSocket.
func (k *Kubelets) forwardHandler(location *url.URL, responder rest.Responder) http.Handler {
	upgrade := k.upgradeHandler(location, responder)
	return proxy.NewTranslatingHandler(upgrade, proxy.NewTunnelingHandler(upgrade), wsstream.IsWebSocketRequestWithTunnelingProtocol)
}

func (k *Kubelets) upgradeHandler(location *url.URL, responder rest.Responder) http.Handler {
	return utilproxy.NewUpgradeAwareHandler(location, k.transport, false, true, utilproxy.NewErrorResponder(responder))
}
