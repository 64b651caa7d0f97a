package restconfig

import (
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"path/filepath"
	"time"

	"github.com/lanyard-dev/lanyard/execcredential"
	"github.com/lanyard-dev/lanyard/execcredential/transport"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/client-go/rest"
	clienttransport "k8s.io/client-go/transport"
)

// ErrTransport is the condition of a configuration with a plugin and a Transport of its own, which no client
// certificate could reach.
var ErrTransport = errors.New("a transport of its own cannot be combined with an exec plugin")

// Wrap returns a copy of config whose requests log in through pool in place of client-go's own plugin runner, and the
// source that they use; close it when the clients are done. Every field of config works as with client-go:
//
//   - PluginPolicy, beside the pool's policy, and StdinUnavailable of ExecProvider decide whether and how the plugin
//     runs;
//   - the TLS settings, Proxy and Dial stay in the copy, so that exec, attach and port-forward dial with them over SPDY
//     and WebSocket;
//   - transports are made by client-go, with its HTTP/2 health checks and its reloading of CAFile;
//   - WrapTransport stays in force; a wrapper that sets Authorization keeps the plugin from running.
//
// The credential goes to the server of Host only, as [transport.RoundTripper.OnlyTo] says. A certificate that a session
// over SPDY or WebSocket needs is [transport.ErrNoTLS] when config has no TLS settings at all, since client-go dials
// without any then.
//
// A configuration without ExecProvider is copied as it is. One with a static token, name, or certificate and key, which
// win, is copied without ExecProvider. The source is nil then. Errors: [ErrTransport];
// [execcredential.ErrAuthProvider]; those of [FromExecConfig], of [FromREST] when the plugin asks for cluster
// information, of [transport.Pool.Source] with the policy's faults, and of client-go for the TLS settings and Host.
func Wrap(config *rest.Config, pool *transport.Pool) (*rest.Config, *transport.Source, error) {
	wrapped := copyOf(config)
	if config.ExecProvider == nil {
		return wrapped, nil, nil
	}
	exec, _, err := FromExecConfig(config.ExecProvider)
	switch {
	case err != nil:
		return nil, nil, err
	case config.AuthProvider != nil:
		return nil, nil, execcredential.ErrAuthProvider
	case isStatic(config):
		if err := exec.Policy.Validate(); err != nil { // which client-go refuses here too
			return nil, nil, err
		}
		return wrapped, nil, nil
	case config.Transport != nil:
		return nil, nil, ErrTransport
	}
	if exec.Command != "" {
		exec.Command = filepath.Clean(exec.Command) // as client-go runs it
	}
	source, err := sourceOf(config, exec, pool)
	if err != nil {
		return nil, nil, err
	}
	logins, err := newLogins(config, source)
	if err != nil {
		source.Close()
		return nil, nil, err
	}
	wrapped.WrapTransport = clienttransport.Wrappers(logins.wrap, config.WrapTransport)
	return wrapped, source, nil
}

// copyOf returns a copy without ExecProvider, into which rest.CopyConfig would write.
func copyOf(config *rest.Config) *rest.Config {
	shallow := *config
	shallow.ExecProvider = nil
	return rest.CopyConfig(&shallow)
}

// isStatic reports whether client-go would not run the plugin.
func isStatic(config *rest.Config) bool {
	certificate := len(config.CertData) > 0 || config.CertFile != ""
	key := len(config.KeyData) > 0 || config.KeyFile != ""
	return config.BearerToken != "" || config.BearerTokenFile != "" || config.Username != "" || certificate && key
}

func sourceOf(config *rest.Config, exec execcredential.ExecConfig, pool *transport.Pool) (*transport.Source, error) {
	if !exec.ProvideClusterInfo {
		return pool.Source(exec, nil)
	}
	cluster, err := FromREST(config)
	if err != nil {
		return nil, err
	}
	return pool.Source(exec, &cluster)
}

// logins puts a source's credential under the transports of client-go.
type logins struct {
	source *transport.Source
	server string
	pooled *transport.RoundTripper
}

func newLogins(config *rest.Config, source *transport.Source) (*logins, error) {
	address, _, err := rest.DefaultServerUrlFor(config)
	if err != nil {
		return nil, err
	}
	// The anonymous configuration has what decides about connections, and no wrapper.
	settings, err := rest.AnonymousClientConfig(config).TransportConfig()
	if err != nil {
		return nil, err
	}
	settings.UserAgent = ""
	pooled, err := source.RoundTripperOf(maker(*settings))
	if err != nil {
		return nil, err
	}
	server := address.String()
	return &logins{source: source, server: server, pooled: pooled.OnlyTo(server)}, nil
}

// wrap returns the round tripper to use in place of base. One that pools connections is client-go's for the same
// settings, without a way to change its certificate; any other dials for itself, as those for SPDY and WebSocket do,
// with a TLS configuration that it shows.
func (l *logins) wrap(base http.RoundTripper) http.RoundTripper {
	if isPooled(base) {
		return l.pooled
	}
	config, err := utilnet.TLSClientConfig(base)
	if err != nil {
		config = nil // it shows none
	}
	return l.source.WrapDialer(base, config).OnlyTo(l.server)
}

func isPooled(rt http.RoundTripper) bool {
	for {
		switch typed := rt.(type) {
		case *http.Transport:
			return true
		case utilnet.RoundTripperWrapper:
			rt = typed.WrappedRoundTripper()
		default:
			return false
		}
	}
}

// maker returns a maker of client-go's transports.
func maker(settings clienttransport.Config) transport.Maker {
	if settings.Proxy == nil {
		settings.Proxy = http.ProxyFromEnvironment // the default; spelled out, it keeps the transport out of client-go's cache
	}
	dial := (&net.Dialer{Timeout: 30 * time.Second, KeepAlive: 30 * time.Second}).DialContext
	if settings.DialHolder != nil {
		dial = settings.DialHolder.Dial
	}
	return func(certificate *tls.Certificate, track func(transport.DialFunc) transport.DialFunc) (http.RoundTripper, error) {
		settings := settings // client-go writes into it
		if certificate != nil {
			settings.TLS.GetCertHolder = &clienttransport.GetCertHolder{GetCert: func() (*tls.Certificate, error) { return certificate, nil }}
			settings.DialHolder = &clienttransport.DialHolder{Dial: track(dial)}
		}
		return clienttransport.New(&settings)
	}
}
