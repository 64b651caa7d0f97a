package restconfig_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/lanyard-dev/lanyard/execcredential"
	"github.com/lanyard-dev/lanyard/execcredential/pluginsdk"
	"github.com/lanyard-dev/lanyard/execcredential/restconfig"
	"github.com/lanyard-dev/lanyard/redact"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/pkg/apis/clientauthentication"
	clientauthenticationv1 "k8s.io/client-go/pkg/apis/clientauthentication/v1"
	clientauthenticationv1beta1 "k8s.io/client-go/pkg/apis/clientauthentication/v1beta1"
	"k8s.io/client-go/rest"
	upstream "k8s.io/client-go/tools/auth/exec"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	clientcmdapiv1 "k8s.io/client-go/tools/clientcmd/api/v1"
)

// jsonNames returns the JSON name of each field.
func jsonNames(of reflect.Type) map[string]string {
	names := map[string]string{}
	for i := range of.NumField() {
		name, _, _ := strings.Cut(of.Field(i).Tag.Get("json"), ",")
		names[of.Field(i).Name] = name
	}
	return names
}

// wireNames returns the JSON name that each field of our Cluster has on the wire: the key that changes with it.
func wireNames(t *testing.T) map[string]string {
	t.Helper()
	names := map[string]string{}
	nothing := onWire(t, execcredential.Cluster{})
	for _, field := range reflect.VisibleFields(reflect.TypeFor[execcredential.Cluster]()) {
		var cluster execcredential.Cluster
		value := reflect.ValueOf(&cluster).Elem().FieldByIndex(field.Index)
		switch value.Interface().(type) {
		case string:
			value.SetString("x")
		case bool:
			value.SetBool(true)
		case []byte:
			value.SetBytes([]byte("x"))
		case redact.Text:
			value.Set(reflect.ValueOf(redact.New("x")))
		case redact.Bytes:
			value.Set(reflect.ValueOf(redact.NewBytes([]byte(`"x"`))))
		}
		for name, encoded := range onWire(t, cluster) {
			if string(encoded) != string(nothing[name]) {
				names[field.Name] = name
			}
		}
	}
	return names
}

func onWire(t *testing.T, cluster execcredential.Cluster) map[string]json.RawMessage {
	t.Helper()
	info, err := execcredential.Info(execcredential.ExecConfig{APIVersion: execcredential.V1, ProvideClusterInfo: true}, &cluster, false)
	if err != nil {
		t.Fatal(err)
	}
	var object struct {
		Spec struct{ Cluster map[string]json.RawMessage }
	}
	if err := json.Unmarshal([]byte(info), &object); err != nil {
		t.Fatal(err)
	}
	return object.Spec.Cluster
}

func TestClusterShadowsKubeconfig(t *testing.T) {
	ours := wireNames(t)
	t.Run("ECR-17 KEP-541 unit: Cluster's fields, Go and JSON, shadow those of a kubeconfig's cluster", func(t *testing.T) {
		want := jsonNames(reflect.TypeFor[clientcmdapiv1.Cluster]())
		delete(want, "CertificateAuthority")
		delete(want, "Extensions")
		want["Config"] = "config"
		if !reflect.DeepEqual(ours, want) {
			t.Errorf("fields = %v, want %v", ours, want)
		}
	})
	t.Run("ECR-17 and those of the published API in both versions", func(t *testing.T) {
		for _, of := range []reflect.Type{reflect.TypeFor[clientauthenticationv1.Cluster](), reflect.TypeFor[clientauthenticationv1beta1.Cluster]()} {
			if want := jsonNames(of); !reflect.DeepEqual(ours, want) {
				t.Errorf("fields = %v, want %v of %v", ours, want, of)
			}
		}
		if _, ok := reflect.TypeFor[clientauthentication.Cluster]().FieldByName("DisableCompression"); !ok {
			t.Error("upstream has lost DisableCompression")
		}
	})
}

const withCluster = `{"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1","spec":{"cluster":{` +
	`"server":"https://s:1","tls-server-name":"n","insecure-skip-tls-verify":false,"certificate-authority-data":"Y2E=",` +
	`"proxy-url":"http://p:2","disable-compression":true,"config":{"a":1}},"interactive":true},"status":{"token":"ignored"}}`

func TestLoadExecCredential(t *testing.T) {
	t.Run("ECR-16 ECR-27 KEP-541 unit: helper methods create a rest.Config, anonymous, as client-go's does", func(t *testing.T) {
		object, config, err := restconfig.LoadExecCredential([]byte(withCluster))
		_, theirs, theirErr := upstream.LoadExecCredential([]byte(withCluster))
		if err != nil || theirErr != nil {
			t.Fatal(err, theirErr)
		}
		if !object.Spec.Interactive || string(object.Spec.Cluster.Config.Reveal()) != `{"a":1}` {
			t.Errorf("object = %+v", object)
		}
		if config.Host != theirs.Host || !reflect.DeepEqual(config.TLSClientConfig, theirs.TLSClientConfig) || config.DisableCompression != theirs.DisableCompression {
			t.Errorf("config = %+v, want %+v", config, theirs)
		}
		if proxyOf(t, config) != proxyOf(t, theirs) || proxyOf(t, config) != "http://p:2" {
			t.Errorf("proxy = %s, want %s", proxyOf(t, config), proxyOf(t, theirs))
		}
		if config.BearerToken != "" || config.Username != "" || config.ExecProvider != nil || len(config.CertData) != 0 {
			t.Errorf("config = %+v, want no credential", config)
		}
	})
	t.Run("ECR-16 no cluster information is nil and nil", func(t *testing.T) {
		object, config, err := restconfig.LoadExecCredential([]byte(`{"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1beta1"}`))
		if object == nil || config != nil || err != nil {
			t.Errorf("LoadExecCredential = %v, %v, %v, want object, nil, nil", object, config, err)
		}
	})
	t.Run("ECR-16 an empty cluster is a configuration without host", func(t *testing.T) {
		_, config, err := restconfig.LoadExecCredential([]byte(`{"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1","spec":{"cluster":{}}}`))
		if config == nil || config.Host != "" || err != nil {
			t.Errorf("LoadExecCredential = %v, %v", config, err)
		}
	})
	var decode *execcredential.DecodeError
	var kind *execcredential.KindError
	for _, c := range []struct {
		name, data string
		is         func(error) bool
	}{
		{"bad JSON", "{", func(err error) bool { return errors.As(err, &decode) }},
		{"bad base64", `{"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1","spec":{"cluster":{"certificate-authority-data":"%"}}}`, func(err error) bool { return errors.As(err, &decode) }},
		{"another kind", `{"kind":"Status","apiVersion":"v1"}`, func(err error) bool { return errors.As(err, &kind) }},
		{"a proxy URL that does not parse", strings.Replace(withCluster, "http://p:2", "http://u:sesame@ ", 1), func(err error) bool { return errors.Is(err, restconfig.ErrProxyURL) }},
	} {
		t.Run("ECR-16 "+c.name+" is an error, as in client-go", func(t *testing.T) {
			object, config, err := restconfig.LoadExecCredential([]byte(c.data))
			if !c.is(err) || object != nil || config != nil || strings.Contains(err.Error(), "sesame") {
				t.Errorf("LoadExecCredential = %v, %v, %v", object, config, err)
			}
			if _, _, theirs := upstream.LoadExecCredential([]byte(c.data)); theirs == nil {
				t.Error("client-go takes it")
			}
		})
	}
	t.Run("ECR-16 from the environment", func(t *testing.T) {
		t.Setenv(execcredential.InfoEnv, withCluster)
		if _, config, err := restconfig.LoadExecCredentialFromEnv(); err != nil || config.Host != "https://s:1" {
			t.Errorf("LoadExecCredentialFromEnv = %v, %v", config, err)
		}
		t.Setenv(execcredential.InfoEnv, "")
		if _, _, err := restconfig.LoadExecCredentialFromEnv(); !errors.Is(err, pluginsdk.ErrNoInfo) {
			t.Errorf("LoadExecCredentialFromEnv = %v, want ErrNoInfo", err)
		}
	})
}

func proxyOf(t *testing.T, config *rest.Config) string {
	t.Helper()
	request, err := http.NewRequest(http.MethodGet, "https://s:1", nil)
	if err != nil {
		t.Fatal(err)
	}
	proxy, err := config.Proxy(request)
	if err != nil {
		t.Fatal(err)
	}
	return proxy.String()
}

func TestFromREST(t *testing.T) {
	t.Run("ECR-27 KEP-541 unit: to a rest.Config and back nothing is lost", func(t *testing.T) {
		want := execcredential.Cluster{
			Server: "https://s", TLSServerName: "n", InsecureSkipTLSVerify: true, CertificateAuthorityData: []byte("ca"),
			ProxyURL: redact.New("http://p"), DisableCompression: true,
		}
		config, err := restconfig.ToREST(want)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := restconfig.FromREST(config); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("FromREST(ToREST) = %+v, %v, want %+v", got, err, want)
		}
	})
	t.Run("ECR-26 a CA file is inlined, the chosen proxy is told, and the extension unchanged", func(t *testing.T) {
		file := filepath.Join(t.TempDir(), "ca")
		if err := os.WriteFile(file, []byte("pem"), 0o600); err != nil {
			t.Fatal(err)
		}
		config := &rest.Config{
			Host: "https://s", TLSClientConfig: rest.TLSClientConfig{CAFile: file},
			Proxy:        http.ProxyURL(&url.URL{Scheme: "http", Host: "chosen"}),
			ExecProvider: &clientcmdapi.ExecConfig{Config: &runtime.Unknown{Raw: []byte(`{"b":1,"a":2}`)}},
		}
		got, err := restconfig.FromREST(config)
		if err != nil || string(got.CertificateAuthorityData) != "pem" || got.ProxyURL.Reveal() != "http://chosen" || string(got.Config.Reveal()) != `{"b":1,"a":2}` {
			t.Errorf("FromREST = %+v, %v", got, err)
		}
		config.CAFile = file + ".absent"
		if _, err := restconfig.FromREST(config); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("FromREST = %v, want a missing file", err)
		}
	})
}
