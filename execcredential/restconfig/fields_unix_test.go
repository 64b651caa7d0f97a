//go:build unix

package restconfig_test

import (
	"errors"
	"net"
	"net/http"
	"reflect"
	"sync/atomic"
	"testing"
	"time"

	"github.com/lanyard-dev/lanyard/execcredential/internal/loginlab"
	"github.com/lanyard-dev/lanyard/execcredential/restconfig"
	"github.com/lanyard-dev/lanyard/execcredential/transport"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/flowcontrol"
)

// fieldLab is a server whose certificate is for 127.0.0.1 and "server", and a plugin for it.
type fieldLab struct {
	authority *loginlab.Authority
	plugin    *loginlab.Plugin
	address   string
	seen      atomic.Pointer[http.Request]
}

func newFieldLab(t *testing.T) *fieldLab {
	l := &fieldLab{authority: loginlab.NewAuthority(t), plugin: loginlab.NewPlugin(t, "")}
	l.address = l.authority.Server(t, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { l.seen.Store(r) })).URL
	certificate, key := l.authority.Client(t, "user", time.Now().Add(-time.Hour), 2*time.Hour)
	l.plugin.Status("t", certificate, key, time.Time{})
	return l
}

func (l *fieldLab) config() *rest.Config {
	return &rest.Config{Host: l.address, TLSClientConfig: rest.TLSClientConfig{CAData: l.authority.PEM}, ExecProvider: toExec(l.plugin.Config())}
}

// ask sends a request through Wrap and returns what the server saw; nil when it saw none.
func (l *fieldLab) ask(t *testing.T, config *rest.Config) (*http.Request, error) {
	t.Helper()
	l.seen.Store(nil)
	pool, err := transport.NewPool(transport.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	wrapped, source, err := restconfig.Wrap(config, pool)
	if err != nil {
		return nil, err
	}
	if source != nil {
		defer source.Close()
	}
	client, err := rest.HTTPClientFor(wrapped)
	if err != nil {
		return nil, err
	}
	response, err := client.Get(l.address)
	if err != nil {
		return nil, err
	}
	response.Body.Close()
	return l.seen.Load(), nil
}

// effect is a field that Wrap has to give an effect, through the certificate's transport too, which it makes anew.
type effect func(t *testing.T, l *fieldLab)

func works(t *testing.T, l *fieldLab, config *rest.Config) *http.Request {
	t.Helper()
	seen, err := l.ask(t, config)
	if err != nil || seen == nil || seen.Header.Get("Authorization") != "Bearer t" || len(seen.TLS.PeerCertificates) != 1 {
		t.Fatalf("server saw %v, %v, want a request with token and certificate", seen, err)
	}
	return seen
}

func fails(t *testing.T, l *fieldLab, config *rest.Config) {
	t.Helper()
	if seen, err := l.ask(t, config); err == nil || seen != nil {
		t.Errorf("server saw %v, want an error and no request", seen)
	}
}

func refused(change func(*rest.Config), want error) effect {
	return func(t *testing.T, l *fieldLab) {
		config := l.config()
		change(config)
		pool, err := transport.NewPool(transport.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer pool.Close()
		if _, _, err := restconfig.Wrap(config, pool); !errors.Is(err, want) {
			t.Errorf("Wrap = %v, want %v", err, want)
		}
	}
}

// static is a field that decides that the plugin is not run.
func static(change func(*rest.Config)) effect {
	return func(t *testing.T, l *fieldLab) {
		config, before := l.config(), l.plugin.Runs()
		change(config)
		pool, err := transport.NewPool(transport.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer pool.Close()
		wrapped, source, err := restconfig.Wrap(config, pool)
		if err != nil || source != nil || wrapped.ExecProvider != nil || l.plugin.Runs() != before {
			t.Errorf("Wrap = %v, %v, %v, want the static credential and no plugin", wrapped, source, err)
		}
	}
}

// kept are the fields that client-go's clients read from the copy; Wrap has to leave them in it.
func kept() *rest.Config {
	return &rest.Config{
		Host: "https://h", APIPath: "/api", Password: "p", UserAgent: "a", DisableCompression: true, QPS: 7, Burst: 8, Timeout: time.Hour,
		Username: "u", BearerToken: "t", BearerTokenFile: "/t",
		ContentConfig:       rest.ContentConfig{AcceptContentTypes: "a/b", ContentType: "c/d", GroupVersion: &schema.GroupVersion{Version: "v1"}, NegotiatedSerializer: runtime.NewSimpleNegotiatedSerializer(runtime.SerializerInfo{})},
		Impersonate:         rest.ImpersonationConfig{UserName: "n", UID: "u", Groups: []string{"g"}, Extra: map[string][]string{"k": {"v"}}},
		TLSClientConfig:     rest.TLSClientConfig{Insecure: true, ServerName: "n", CertFile: "/c", KeyFile: "/k", CAFile: "/a", CertData: []byte("c"), KeyData: []byte("k"), CAData: []byte("a"), NextProtos: []string{"h2"}},
		RateLimiter:         flowcontrol.NewFakeAlwaysRateLimiter(),
		WarningHandler:      rest.NoWarnings{},
		Dial:                (&net.Dialer{}).DialContext,
		Proxy:               http.ProxyFromEnvironment,
		AuthConfigPersister: nil, WarningHandlerWithContext: rest.NoWarnings{},
	}
}

func TestEveryFieldOfARestConfig(t *testing.T) {
	l := newFieldLab(t)
	effects := effects(t)
	elsewhere := map[string]string{"AuthConfigPersister": "is AuthProvider's, which is refused"}
	example := kept()
	pool, err := transport.NewPool(transport.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	example.ExecProvider = toExec(l.plugin.Config())
	wrapped, _, err := restconfig.Wrap(example, pool)
	if err != nil {
		t.Fatal(err)
	}
	for _, field := range reflect.VisibleFields(reflect.TypeFor[rest.Config]()) {
		if field.Anonymous {
			continue // its fields follow
		}
		t.Run("ECR-29 "+field.Name, func(t *testing.T) {
			check, hasEffect := effects[field.Name]
			if hasEffect {
				check(t, l)
			}
			given, got := reflect.ValueOf(*example).FieldByIndex(field.Index), reflect.ValueOf(*wrapped).FieldByIndex(field.Index)
			switch {
			case given.IsZero() && !hasEffect && elsewhere[field.Name] == "":
				t.Fatalf("field %s is new in client-go: honour or refuse it, and say here which", field.Name)
			case given.IsZero() || field.Name == "ExecProvider":
			case given.Kind() == reflect.Func:
				if given.Pointer() != got.Pointer() {
					t.Errorf("%s is another function in the copy", field.Name)
				}
			case !reflect.DeepEqual(given.Interface(), got.Interface()):
				t.Errorf("%s = %v in the copy, want %v", field.Name, got, given)
			}
		})
	}
	t.Run("ECR-29 Wrap leaves its argument alone", func(t *testing.T) {
		config, object := l.config(), &runtime.Unknown{Raw: []byte("{}")}
		config.ExecProvider.Config = object
		before, exec := *config, *config.ExecProvider
		if _, _, err := restconfig.Wrap(config, pool); err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(*config, before) || !reflect.DeepEqual(*config.ExecProvider, exec) || config.ExecProvider.Config != runtime.Object(object) {
			t.Errorf("config = %v, plugin %v after Wrap, want %v, %v", config, config.ExecProvider, before, exec)
		}
	})
}
