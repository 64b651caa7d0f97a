package apiserver

import (
	"net/http"

	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/version"
	"k8s.io/apiserver/pkg/admission"
	apiopenapi "k8s.io/apiserver/pkg/endpoints/openapi"
	genericapiserver "k8s.io/apiserver/pkg/server"
	"k8s.io/apiserver/pkg/server/dynamiccertificates"
	genericfilters "k8s.io/apiserver/pkg/server/filters"
	genericoptions "k8s.io/apiserver/pkg/server/options"
	"k8s.io/component-base/compatibility"

	"github.com/lanyard-dev/lanyard/examples/apiserver/access"
	"github.com/lanyard-dev/lanyard/examples/apiserver/openapi"
	"github.com/lanyard-dev/lanyard/examples/gates"
	"github.com/lanyard-dev/lanyard/examples/rawquery"
	execapi "github.com/lanyard-dev/lanyard/execaudit/apiserver"
)

// generic assembles the generic server and installs everything it serves.
func (p *parts) generic() (*genericapiserver.GenericAPIServer, error) {
	config, err := p.config()
	if err != nil {
		return nil, err
	}
	server, err := config.Complete(nil).New("lanyard-apiserver", genericapiserver.NewEmptyDelegate())
	if err != nil {
		return nil, err
	}
	server.ShutdownTimeout = DrainRequests
	if err := p.install(server); err != nil {
		return nil, err
	}
	return server, nil
}

func (p *parts) config() (*genericapiserver.Config, error) {
	config := genericapiserver.NewConfig(p.kinds.Codecs)
	config.EffectiveVersion = playing{compatibility.NewEffectiveVersion(gates.Version(p.options.Minor), false, gates.Version(0), gates.Version(0))}
	config.ShutdownWatchTerminationGracePeriod = DrainWatches
	config.EnableMetrics = false // both registries are served together
	config.EnableProfiling = false
	config.LongRunningFunc = genericfilters.BasicLongRunningRequestCheck(
		sets.NewString("watch", "proxy"), sets.NewString("attach", "exec", "proxy", "log", "portforward"))
	config.BuildHandlerChainFunc = p.handlerChain
	config.AdmissionControl = p.admission()
	p.describe(config)
	if err := p.serve(config); err != nil {
		return nil, err
	}
	config.Authentication.Authenticator = p.authn.requests
	config.Authentication.APIAudiences = p.authn.audiences
	config.Authorization.Authorizer = p.authz
	if err := p.options.Audit.ApplyTo(config); err != nil {
		return nil, err
	}
	if config.AuditBackend != nil {
		config.AuditBackend = redactedAudit{config.AuditBackend}
	}
	return config, nil
}

// handlerChain puts the check of clients' audit IDs in front of everything, because auditing begins with the first
// filter. Connections get the query as it was sent, since the generic server hands them only what net/url can read of
// it.
func (p *parts) handlerChain(api http.Handler, c *genericapiserver.Config) http.Handler {
	chain := genericapiserver.DefaultBuildHandlerChain(rawquery.Keep(api), c)
	return execapi.WithAuditIDCheck(redactLog(chain), p.options.ClientAuditIDs)
}

// admission asks the caller's plugins before the server's own, which only validate.
func (p *parts) admission() admission.Interface {
	restriction := access.NewRestriction(p.registry, p.authz, !p.gates.Enabled(gates.NodeAudienceRestriction))
	chain := append([]admission.Interface{}, p.options.Admission...)
	chain = append(chain, &access.Namespaces{Registry: p.registry}, restriction)
	return admission.NewChainHandler(chain...)
}

// describe sets the OpenAPI documents.
func (p *parts) describe(config *genericapiserver.Config) {
	namer := apiopenapi.NewDefinitionNamer(p.kinds.Scheme)
	config.OpenAPIConfig = genericapiserver.DefaultOpenAPIConfig(openapi.GetOpenAPIDefinitions, namer)
	config.OpenAPIConfig.Info.Title = "Lanyard reference API server"
	config.OpenAPIV3Config = genericapiserver.DefaultOpenAPIV3Config(openapi.GetOpenAPIDefinitions, namer)
	config.OpenAPIV3Config.Info.Title = "Lanyard reference API server"
}

// serve sets TLS, and the loopback client that the generic server wants.
func (p *parts) serve(config *genericapiserver.Config) error {
	certificate, err := dynamiccertificates.NewStaticCertKeyContent("serving", p.options.Serving.Cert, p.options.Serving.Key)
	if err != nil {
		return err
	}
	serving := genericoptions.NewSecureServingOptions()
	serving.Listener = p.options.Listener
	serving.ServerCert.GeneratedCert = certificate
	if err := serving.WithLoopback().ApplyToConfig(config); err != nil {
		return err
	}
	config.ExternalAddress = p.options.Listener.Addr().String()
	return config.Authentication.ApplyClientCert(p.authn.clientCA, config.SecureServing)
}

// playing is an effective version whose git version is the Kubernetes one: clients compare it with their own.
type playing struct {
	compatibility.EffectiveVersion
}

// Info implements compatibility.EffectiveVersion.
func (v playing) Info() *version.Info {
	info := v.EffectiveVersion.Info()
	info.GitVersion = "v" + v.BinaryVersion().String() + ".0"
	return info
}
