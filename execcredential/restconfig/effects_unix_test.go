//go:build unix

package restconfig_test

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/lanyard-dev/lanyard/execcredential"
	"github.com/lanyard-dev/lanyard/execcredential/internal/loginlab"
	"github.com/lanyard-dev/lanyard/execcredential/restconfig"
	"k8s.io/client-go/rest"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// effects are the fields that decide about connections and credentials.
func effects(t *testing.T) map[string]effect {
	return map[string]effect{
		"Host": func(t *testing.T, l *fieldLab) { works(t, l, l.config()) },
		"CAData": func(t *testing.T, l *fieldLab) {
			config := l.config()
			config.CAData = loginlab.NewAuthority(t).PEM
			fails(t, l, config)
		},
		"CAFile": func(t *testing.T, l *fieldLab) {
			config := l.config()
			config.CAData, config.CAFile = nil, filepath.Join(t.TempDir(), "ca")
			if err := os.WriteFile(config.CAFile, l.authority.PEM, 0o600); err != nil {
				t.Fatal(err)
			}
			works(t, l, config)
			config.CAFile += ".absent"
			fails(t, l, config)
		},
		"Insecure": func(t *testing.T, l *fieldLab) {
			config := l.config()
			config.CAData, config.Insecure = nil, true
			works(t, l, config)
			config.CAData = l.authority.PEM
			fails(t, l, config) // as with client-go, which refuses both together
		},
		"ServerName": func(t *testing.T, l *fieldLab) {
			config := l.config()
			config.ServerName = "another"
			fails(t, l, config)
		},
		"NextProtos": func(t *testing.T, l *fieldLab) {
			config := l.config()
			if proto := works(t, l, config).ProtoMajor; proto != 2 {
				t.Errorf("HTTP/%d, want 2", proto)
			}
			config.NextProtos = []string{"http/1.1"}
			if proto := works(t, l, config).ProtoMajor; proto != 1 {
				t.Errorf("HTTP/%d, want 1", proto)
			}
		},
		"DisableCompression": func(t *testing.T, l *fieldLab) {
			config := l.config()
			if got := works(t, l, config).Header.Get("Accept-Encoding"); got != "gzip" {
				t.Errorf("Accept-Encoding = %q, want gzip", got)
			}
			config.DisableCompression = true
			if got := works(t, l, config).Header.Get("Accept-Encoding"); got != "" {
				t.Errorf("Accept-Encoding = %q, want none", got)
			}
		},
		"Dial": func(t *testing.T, l *fieldLab) {
			config, dialed := l.config(), atomic.Int32{}
			config.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
				dialed.Add(1)
				return new(net.Dialer).DialContext(ctx, network, address)
			}
			if works(t, l, config); dialed.Load() == 0 {
				t.Error("Dial was not called")
			}
		},
		"Proxy": func(t *testing.T, l *fieldLab) {
			config := l.config()
			config.Proxy = func(*http.Request) (*url.URL, error) { return nil, errors.New("no way") }
			fails(t, l, config)
		},
		"WrapTransport": func(t *testing.T, l *fieldLab) {
			config := l.config()
			config.Wrap(func(base http.RoundTripper) http.RoundTripper { return marking{base} })
			if works(t, l, config).Header.Get("Marked") != "yes" {
				t.Error("the wrapper was not used")
			}
		},
		"UserAgent": func(t *testing.T, l *fieldLab) {
			config := l.config()
			config.UserAgent = "agent"
			if got := works(t, l, config).UserAgent(); got != "agent" {
				t.Errorf("User-Agent = %q, want agent", got)
			}
		},
		"Impersonate": func(t *testing.T, l *fieldLab) {
			config := l.config()
			config.Impersonate = rest.ImpersonationConfig{UserName: "readonly", UID: "7", Groups: []string{"g"}, Extra: map[string][]string{"k": {"v"}}}
			header := works(t, l, config).Header
			if header.Get("Impersonate-User") != "readonly" || header.Get("Impersonate-Uid") != "7" || header.Get("Impersonate-Group") != "g" || header.Get("Impersonate-Extra-K") != "v" {
				t.Errorf("server saw %v, want the impersonation", header)
			}
		},
		"Transport":       refused(func(c *rest.Config) { c.Transport = http.DefaultTransport }, restconfig.ErrTransport),
		"AuthProvider":    refused(func(c *rest.Config) { c.AuthProvider = &clientcmdapi.AuthProviderConfig{Name: "oidc"} }, execcredential.ErrAuthProvider),
		"BearerToken":     static(func(c *rest.Config) { c.BearerToken = "s" }),
		"BearerTokenFile": static(func(c *rest.Config) { c.BearerTokenFile = "/f" }),
		"Username":        static(func(c *rest.Config) { c.Username = "u" }),
		"CertFile":        static(func(c *rest.Config) { c.CertFile, c.KeyFile = "/c", "/k" }),
		"KeyFile":         static(func(c *rest.Config) { c.CertFile, c.KeyFile = "/c", "/k" }),
		"CertData":        static(func(c *rest.Config) { c.CertData, c.KeyData = []byte("c"), []byte("k") }),
		"KeyData":         static(func(c *rest.Config) { c.CertData, c.KeyData = []byte("c"), []byte("k") }),
		"ExecProvider": func(t *testing.T, l *fieldLab) { // field by field in TestExecConfig and TestPluginPolicy
			if l.plugin.Runs() == 0 {
				works(t, l, l.config())
			}
			if l.plugin.Runs() == 0 {
				t.Error("the plugin was not run")
			}
		},
	}
}

type marking struct{ base http.RoundTripper }

func (m marking) RoundTrip(req *http.Request) (*http.Response, error) {
	req = req.Clone(req.Context())
	req.Header.Set("Marked", "yes")
	return m.base.RoundTrip(req)
}
