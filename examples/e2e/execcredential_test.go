package e2e_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/lanyard-dev/lanyard/examples/login"
	"github.com/lanyard-dev/lanyard/examples/login/issuer"
	"github.com/lanyard-dev/lanyard/examples/parts"
	"github.com/lanyard-dev/lanyard/examples/stack"
	"github.com/lanyard-dev/lanyard/execcredential"
	"github.com/lanyard-dev/lanyard/execcredential/restconfig"
	"github.com/lanyard-dev/lanyard/execcredential/transport"
)

// TestExecCredential runs the integration list of KEP-541: clients that log in
// through a plugin, against an API server that no node is needed for.
func TestExecCredential(t *testing.T) {
	t.Parallel()
	l := newLogins(t)
	t.Run("clients", l.clients)
	t.Run("rotation", l.rotation)
	t.Run("refusals", l.refusals)
	t.Run("outage", l.outage)
	t.Run("static", l.static)
	t.Run("metrics", l.measured)
	t.Run("interactive", l.interactive)
}

// loginPassword is everybody's password.
const loginPassword = "open sesame"

// lasting is a lifetime that does not end within a test.
const lasting = time.Hour

// loginAccess is what those may who log in, by certificate or by token.
const loginAccess = `apiVersion: v1
kind: ServiceAccount
metadata: {name: login, namespace: default}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: login}
rules: [{apiGroups: [""], resources: [configmaps], verbs: [get, list, watch, create]}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: login}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: login}
subjects:
- {apiGroup: rbac.authorization.k8s.io, kind: Group, name: login}
- {kind: ServiceAccount, name: login, namespace: default}
`

// logins is an API server with a login service beside it.
type logins struct {
	*cluster
	service *issuer.Service
	plugin  string
}

func newLogins(t *testing.T) *logins {
	t.Helper()
	return newLoginsOn(t, stack.Options{}, loginAccess)
}

// newLoginsOn is newLogins on a stack of one's own, with a pod on each of its nodes, where access says what those may
// who log in.
func newLoginsOn(t *testing.T, options stack.Options, access string) *logins {
	t.Helper()
	plugin := parts.Need(t, "lanyard-login-plugin")[0]
	manifest := filepath.Join(t.TempDir(), "login.yaml")
	if err := os.WriteFile(manifest, []byte(access), 0o644); err != nil {
		t.Fatal(err)
	}
	options.Manifests = append(options.Manifests, manifest)
	l := &logins{cluster: own(t, options), plugin: plugin}
	service, err := l.Login()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { service.Close() })
	l.service = service
	return l
}

// user lets somebody log in and returns the kubeconfig, whose exec section change may
// change.
func (l *logins) user(t *testing.T, name string, kind login.Kind, lifetime time.Duration, change ...func(*clientcmdapi.ExecConfig)) string {
	t.Helper()
	l.addUser(name, lifetime)
	config := &clientcmdapi.ExecConfig{
		APIVersion: execcredential.V1, InteractiveMode: clientcmdapi.NeverExecInteractiveMode, ProvideClusterInfo: true,
		Command: l.plugin, Args: []string{"-service", l.service.URL(), "-user", name, "-kind", string(kind)},
		Env: []clientcmdapi.ExecEnvVar{{Name: "LANYARD_PASSWORD", Value: loginPassword}},
	}
	for _, f := range change {
		f(config)
	}
	file, err := l.Plugin(name, config)
	if err != nil {
		t.Fatal(err)
	}
	return file
}

// addUser lets somebody log in, or changes the lifetime of what is issued from now on.
func (l *logins) addUser(name string, lifetime time.Duration) {
	l.service.Add(name, issuer.User{Password: loginPassword, Groups: []string{"login"}, Namespace: "default", Account: "login", Lifetime: lifetime})
}

// named is whom the API server knows the user as.
func named(user string, kind login.Kind) string {
	if kind == login.Token {
		return "system:serviceaccount:default:login"
	}
	return user
}

func newPool(t *testing.T, options transport.Options) *transport.Pool {
	t.Helper()
	pool, err := transport.NewPool(options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { pool.Close() })
	return pool
}

// wrapped returns a client of client-go that logs in through our transport.
func wrapped(t *testing.T, pool *transport.Pool, config *rest.Config) *kubernetes.Clientset {
	t.Helper()
	config, source, err := restconfig.Wrap(config, pool)
	if err != nil {
		t.Fatal(err)
	}
	if source != nil {
		t.Cleanup(func() { source.Close() })
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	return client
}

// configOf reads a kubeconfig for a client without a limit of its own.
func configOf(t *testing.T, kubeconfig string) *rest.Config {
	t.Helper()
	config, err := stack.Config(kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	config.QPS = -1
	return config
}
