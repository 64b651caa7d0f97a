package restconfig_test

import (
	"reflect"
	"testing"

	"github.com/lanyard-dev/lanyard/execcredential"
	"github.com/lanyard-dev/lanyard/execcredential/restconfig"
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
				want.ProxyURL = host.Draw(rt, "proxy")
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

func FuzzLoadExecCredential(f *testing.F) {
	f.Add([]byte(withCluster))
	f.Fuzz(func(t *testing.T, data []byte) {
		object, config, err := restconfig.LoadExecCredential(data)
		if err == nil && (object == nil || (config == nil) != (object.Spec.Cluster == nil)) {
			t.Fatalf("LoadExecCredential = %v, %v", object, config)
		}
	})
}
