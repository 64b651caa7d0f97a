package transport

import (
	"net/http"

	"github.com/lanyard-dev/lanyard/execcredential"
)

// Client returns a client of the cluster that logs in with the plugin: [Base], [Pool.Source] and [Source.RoundTripper]
// in one. The credential goes to the cluster's server only, as [RoundTripper.OnlyTo] says, and requests to it act as
// whom the configuration impersonates. The source stays in use until the pool is closed. Errors are those of the three,
// and [ErrServer].
func (p *Pool) Client(config execcredential.ExecConfig, cluster execcredential.Cluster) (*http.Client, error) {
	base, err := Base(cluster)
	if err != nil {
		return nil, err
	}
	if !scopeOf(cluster.Server).valid() {
		return nil, ErrServer
	}
	source, err := p.Source(config, &cluster)
	if err != nil {
		return nil, err
	}
	rt, err := source.RoundTripper(base)
	if err != nil {
		return nil, err
	}
	return &http.Client{Transport: rt.OnlyTo(cluster.Server)}, nil
}
