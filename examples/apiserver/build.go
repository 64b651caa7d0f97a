package apiserver

import (
	"crypto/tls"
	"crypto/x509"
	"errors"

	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/apiserver/pkg/authorization/authorizerfactory"
	"k8s.io/apiserver/pkg/authorization/union"
	"k8s.io/component-base/featuregate"
	"k8s.io/klog/v2"

	"github.com/lanyard-dev/lanyard/examples/apiserver/access"
	"github.com/lanyard-dev/lanyard/examples/apiserver/connect"
	"github.com/lanyard-dev/lanyard/examples/apiserver/kinds"
	"github.com/lanyard-dev/lanyard/examples/apiserver/memory"
	"github.com/lanyard-dev/lanyard/examples/apiserver/registry"
	"github.com/lanyard-dev/lanyard/examples/apiserver/tokens"
	"github.com/lanyard-dev/lanyard/examples/gates"
	"github.com/lanyard-dev/lanyard/execaudit"
)

// parts are what a server is made of, in the order in which they need each other.
type parts struct {
	options  Options
	gates    featuregate.MutableVersionedFeatureGate
	exec     execaudit.Gates
	url      string
	kinds    kinds.Kinds
	registry *registry.Registry
	issuer   *tokens.Issuer
	authn    authentication
	rbac     *access.RBAC
	authz    authorizer.Authorizer
	kubelets *connect.Kubelets
	metrics  *metrics
}

func build(o Options) (*Server, error) {
	p := &parts{options: o, url: "https://" + o.Listener.Addr().String()}
	for _, step := range []func() error{
		p.setGates, p.setRegistry, p.setTokens, p.setAuthentication, p.setAuthorization, p.setKubelets, p.setMetrics,
	} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	generic, err := p.generic()
	if err != nil {
		return nil, err
	}
	if err := bootstrap(p.registry, p.kinds, p.gates.Enabled(gates.FineGrainedAuthz), o.Objects); err != nil {
		return nil, err
	}
	return &Server{generic: generic, kubelets: p.kubelets, registry: p.registry, address: o.Listener.Addr()}, nil
}

// setGates refuses settings that contradict each other, such as ExecRequestID without ExecEnvVar.
func (p *parts) setGates() (err error) {
	if p.options.Minor == 0 {
		p.options.Minor = gates.MaxMinor
	}
	if playing, same := gates.Known(p.options.Minor); playing != 0 && !same {
		klog.Warningf("Kubernetes 1.%d is newer than 1.%d, the newest known version, and is treated as 1.%d", p.options.Minor, playing, playing)
		p.options.Minor = playing
	}
	if p.gates = p.options.Gates; p.gates == nil {
		if p.gates, err = gates.APIServer(p.options.Minor); err != nil {
			return err
		}
	}
	p.exec, err = gates.Exec(p.gates)
	return err
}

func (p *parts) setRegistry() (err error) {
	backend := p.options.Backend
	if backend == nil {
		backend = memory.New(memory.Options{})
	}
	p.kinds = kinds.New(p.exec.ExecEnvVar)
	groups, err := gates.Groups(p.options.Minor, p.gates)
	if err != nil {
		return err
	}
	p.registry, err = registry.New(p.kinds, backend, groups)
	return err
}

func (p *parts) setTokens() (err error) {
	key := p.options.ServiceAccountKey
	if key == nil {
		if key, err = tokens.NewKey(); err != nil {
			return err
		}
	}
	if p.options.Issuer == "" {
		p.options.Issuer = p.url
	}
	if len(p.options.Audiences) == 0 {
		p.options.Audiences = []string{p.options.Issuer}
	}
	p.issuer, err = tokens.NewIssuer(p.options.Issuer, key)
	return err
}

// setAuthorization asks the cheap authorizers first. Each allows or has no opinion.
func (p *parts) setAuthorization() (err error) {
	p.rbac = access.NewRBAC(p.registry)
	p.authz, err = union.New(
		union.NamedAuthorizer{AuthorizerName: "masters", Authorizer: authorizerfactory.NewPrivilegedGroups(user.SystemPrivilegedGroup)},
		union.NamedAuthorizer{AuthorizerName: "nodes", Authorizer: access.NewNodes(p.registry)},
		union.NamedAuthorizer{AuthorizerName: "rbac", Authorizer: p.rbac},
	)
	return err
}

func (p *parts) setKubelets() error {
	certificate, err := p.options.KubeletClient.TLS()
	if err != nil {
		return err
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(p.options.KubeletCA) {
		return errors.New("the kubelets' CA holds no certificate")
	}
	p.kubelets = connect.NewKubelets(p.registry.Nodes, &tls.Config{
		Certificates: []tls.Certificate{certificate}, RootCAs: pool, MinVersion: tls.VersionTLS12,
	})
	return nil
}

func (p *parts) setMetrics() error {
	p.metrics = newMetrics(p.gates)
	return nil
}
