package stack

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/lanyard-dev/lanyard/credprovider"
	"github.com/lanyard-dev/lanyard/credprovider/configfile"
	"github.com/lanyard-dev/lanyard/examples/kubelet"
	"github.com/lanyard-dev/lanyard/examples/parts"
	"github.com/lanyard-dev/lanyard/examples/registryauth"
	"github.com/lanyard-dev/lanyard/examples/registryauth/workload"
	"github.com/lanyard-dev/lanyard/redact"
)

// PrivateAudience is the audience of the tokens that a private registry takes.
const PrivateAudience = "registry.example.io"

// PrivateAccess is what a private registry needs of the API server: that strangers can
// read the issuer's keys, which takes AnonymousAuth too, and that nodes may have tokens
// for the registry.
const PrivateAccess = `apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: "lanyard:issuer-discovery"}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: "system:service-account-issuer-discovery"}
subjects: [{apiGroup: rbac.authorization.k8s.io, kind: Group, name: "system:unauthenticated"}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: "lanyard:registry-tokens"}
rules: [{apiGroups: [""], resources: ["` + PrivateAudience + `"], verbs: ["request-serviceaccounts-token-audience"]}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: "lanyard:registry-tokens"}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: "lanyard:registry-tokens"}
subjects: [{apiGroup: rbac.authorization.k8s.io, kind: Group, name: "system:nodes"}]
`

// AnonymousAuth is the API server's flag that lets strangers read what RBAC shows them.
const AnonymousAuth = "--anonymous-auth"

// Private is a registry that serves the stack's images to those only who may have them.
type Private struct {
	*registryauth.Front
	stack  *Stack
	server *httptest.Server
	node   registryauth.Login
	login  string // file with the node's login
}

// PrivateOptions say who may pull what.
type PrivateOptions struct {
	// Grants are the repositories of service accounts, as "namespace/name".
	Grants map[string][]string
	// Shared are the repositories of the node's own login.
	Shared []string
	// Lifetime is how long a password is good; 0 is registryauth.DefaultLifetime.
	Lifetime time.Duration
}

// Private starts a private registry. Close it when done.
func (s *Stack) Private(o PrivateOptions) (*Private, error) {
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(s.authority.PEM())
	node := registryauth.Login{Username: "node", Password: registryauth.NewPassword(), Repositories: o.Shared}
	p := &Private{stack: s, node: node, login: filepath.Join(s.options.Dir, "node-login")}
	p.Front = registryauth.New(registryauth.Options{
		Registry: s.registry.Handler, Grants: o.Grants, Node: node, Lifetime: o.Lifetime,
		Verifier: workload.Verifier{
			Issuer: s.URL(), Audience: PrivateAudience,
			Client: &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}, DisableKeepAlives: true}},
		},
	})
	if err := os.WriteFile(p.login, []byte(node.Username+":"+node.Password), 0o600); err != nil {
		return nil, err
	}
	p.server = httptest.NewServer(p.Front)
	return p, nil
}

// NodeLogin is the standing login of the shared repositories.
func (p *Private) NodeLogin() registryauth.Login { return p.node }

// Close ends the registry and its connections.
func (p *Private) Close() {
	p.server.CloseClientConnections()
	p.server.Close()
}

// Host is the registry's name in references. By that name every runtime speaks plain
// HTTP to it.
func (p *Private) Host() string {
	return "localhost:" + p.server.URL[strings.LastIndexByte(p.server.URL, ':')+1:]
}

// Named returns the private name of an image that was pushed with [Stack.Image].
func (p *Private) Named(image string) string {
	return p.Host() + strings.TrimPrefix(image, p.stack.registry.Host())
}

// Provider configures the example plugin, under a name of its own, for the workloads'
// repositories that begin with path.
func (p *Private) Provider(name, path string) credprovider.Provider {
	required := true
	return credprovider.Provider{
		Name: name, MatchImages: []string{p.Host() + path},
		DefaultCacheDuration: credprovider.NewDuration(0), APIVersion: credprovider.V1,
		Args: redact.Texts(
			"--issuer="+p.stack.URL(), "--issuer-ca="+p.stack.authorityFile,
			"--audience="+PrivateAudience, "--exchange=http://"+p.Host()+"/exchange",
		),
		TokenAttributes: &credprovider.TokenAttributes{
			ServiceAccountTokenAudience: PrivateAudience, CacheType: credprovider.CacheByServiceAccount, RequireServiceAccount: &required,
		},
	}
}

// NodeProvider configures the same plugin without tokens, for shared repositories.
func (p *Private) NodeProvider(name, path string) credprovider.Provider {
	return credprovider.Provider{
		Name: name, MatchImages: []string{p.Host() + path},
		DefaultCacheDuration: credprovider.NewDuration(0), APIVersion: credprovider.V1,
		Args: redact.Texts("--node-login=" + p.login),
	}
}

// Install writes a configuration of the providers to a directory of that name in the
// stack's, with the plugin under each of their names, and returns what makes a kubelet
// use it.
func (p *Private) Install(directory string, providers ...credprovider.Provider) (func(*kubelet.Config), error) {
	dir := filepath.Join(p.stack.options.Dir, directory)
	bin, file := filepath.Join(dir, "bin"), filepath.Join(dir, "providers.json")
	if err := os.MkdirAll(bin, 0o755); err != nil {
		return nil, err
	}
	program, err := parts.Find("lanyard-pull-plugin")
	if err != nil {
		return nil, err
	}
	for _, one := range providers {
		if err := os.Symlink(program, filepath.Join(bin, one.Name)); err != nil && !errors.Is(err, fs.ErrExist) {
			return nil, err
		}
	}
	text, err := configfile.Encode(credprovider.Config{Kind: credprovider.ConfigKind, APIVersion: credprovider.ConfigV1, Providers: providers})
	if err != nil {
		return nil, err
	}
	return func(c *kubelet.Config) {
		c.ImageCredentialProviderConfig, c.ImageCredentialProviderBinDir = file, bin
	}, os.WriteFile(file, text, 0o644)
}
