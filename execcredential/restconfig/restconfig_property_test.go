package restconfig_test

import (
	"net/http"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/lanyard-dev/lanyard/execcredential"
	"github.com/lanyard-dev/lanyard/execcredential/internal/loginlab"
	"github.com/lanyard-dev/lanyard/execcredential/restconfig"
	"github.com/lanyard-dev/lanyard/execcredential/transport"
	"github.com/lanyard-dev/lanyard/redact"
	clienttransport "k8s.io/client-go/transport"
	"pgregory.net/rapid"
)

func TestRoundTripLaw(t *testing.T) {
	t.Run("ECR-27 FromREST undoes ToREST", func(t *testing.T) {
		rapid.Check(t, func(rt *rapid.T) {
			host := rapid.StringMatching(`https://[a-z]{1,8}(:[1-9][0-9]{0,3})?`)
			want := execcredential.Cluster{
				Server:                host.Draw(rt, "server"),
				TLSServerName:         rapid.StringMatching(`[a-z.]{0,8}`).Draw(rt, "name"),
				InsecureSkipTLSVerify: rapid.Bool().Draw(rt, "insecure"),
				DisableCompression:    rapid.Bool().Draw(rt, "plain"),
			}
			if rapid.Bool().Draw(rt, "has proxy") {
				want.ProxyURL = redact.New(host.Draw(rt, "proxy"))
			}
			if ca := rapid.SliceOf(rapid.Byte()).Draw(rt, "ca"); len(ca) > 0 {
				want.CertificateAuthorityData = ca
			}
			config, err := restconfig.ToREST(want)
			if err != nil {
				rt.Fatal(err)
			}
			if got, err := restconfig.FromREST(config); err != nil || !reflect.DeepEqual(got, want) {
				rt.Fatalf("FromREST(ToREST(%+v)) = %+v, %v", want, got, err)
			}
		})
	})
}

func TestImpersonationLaw(t *testing.T) {
	plugin := loginlab.NewPlugin(t, "")
	plugin.Status("t", "", "", time.Time{})
	pool, err := transport.NewPool(transport.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	t.Run("ECR-29 ECR-30 for any impersonation the headers are client-go's", func(t *testing.T) {
		rapid.Check(t, func(rt *rapid.T) {
			text := rapid.StringMatching(`[ -~é%/.]{1,8}`)
			as := execcredential.Impersonation{
				Name: text.Draw(rt, "name"), UID: rapid.OneOf(rapid.Just(""), text).Draw(rt, "uid"), Groups: rapid.SliceOfN(text, 0, 3).Draw(rt, "groups"),
				Extra: rapid.MapOfN(text, rapid.SliceOfN(text, 0, 2), 0, 3).Draw(rt, "extra"),
			}
			config := plugin.Config()
			config.Impersonate = as
			source, err := pool.Source(config, nil)
			if err != nil {
				rt.Fatal(err)
			}
			defer source.Close()
			got, want := headersOf(rt, source.Wrap), headersOf(rt, func(base http.RoundTripper) *transport.RoundTripper {
				theirs := clienttransport.NewImpersonatingRoundTripper(clienttransport.ImpersonationConfig{UserName: as.Name, UID: as.UID, Groups: as.Groups, Extra: as.Extra}, base)
				plain := plugin.Config()
				source, err := pool.Source(plain, nil)
				if err != nil {
					rt.Fatal(err)
				}
				return source.Wrap(theirs)
			})
			for _, header := range []http.Header{got, want} {
				for name := range header { // values of keys that differ in case alone come in the order of a map
					slices.Sort(header[name])
				}
			}
			if !reflect.DeepEqual(got, want) {
				rt.Fatalf("headers = %v, client-go's %v", got, want)
			}
		})
	})
}

// headersOf returns the headers that a base under wrap is given.
func headersOf(rt *rapid.T, wrap func(http.RoundTripper) *transport.RoundTripper) http.Header {
	rt.Helper()
	var seen http.Header
	base := roundTripperFunc(func(req *http.Request) (*http.Response, error) {
		seen = req.Header.Clone()
		return &http.Response{StatusCode: http.StatusOK, Body: http.NoBody}, nil
	})
	req, err := http.NewRequest(http.MethodGet, "https://h", nil)
	if err != nil {
		rt.Fatal(err)
	}
	if _, err := wrap(base).RoundTrip(req); err != nil {
		rt.Fatal(err)
	}
	return seen
}

type roundTripperFunc func(*http.Request) (*http.Response, error)

func (f roundTripperFunc) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }

func FuzzLoadExecCredential(f *testing.F) {
	f.Add([]byte(withCluster))
	f.Fuzz(func(t *testing.T, data []byte) {
		object, config, err := restconfig.LoadExecCredential(data)
		if err == nil && (object == nil || (config == nil) != (object.Spec.Cluster == nil)) {
			t.Fatalf("LoadExecCredential = %v, %v", object, config)
		}
	})
}
