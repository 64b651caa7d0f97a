package kubeletauthz_test

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/lanyard-dev/lanyard/kubeletauthz"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/version"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	featuregatetesting "k8s.io/component-base/featuregate/testing"
	"k8s.io/kubernetes/pkg/features"
	"k8s.io/kubernetes/pkg/kubelet/server"
	"pgregory.net/rapid"
)

var jane = &user.DefaultInfo{Name: "jane"}

// upstream is what the kubelet asks about a request.
func upstream(method, path string) []authorizer.Attributes {
	getter := server.NewNodeAuthorizerAttributesGetter(types.NodeName("node-1"))
	return getter.GetRequestAttributes(context.Background(), jane, &http.Request{Method: method, URL: &url.URL{Path: path}})
}

// gates are the gate's settings that the kubelet of 1.36 knows; off needs it to play 1.35.
func gates(t *testing.T, check func(*testing.T, kubeletauthz.Mapper)) {
	for _, on := range []bool{true, false} {
		t.Run(map[bool]string{true: "gate on", false: "gate off"}[on], func(t *testing.T) {
			o := kubeletauthz.Options{Node: "node-1", Minor: 36}
			if !on {
				o.Minor, o.Gate = 35, kubeletauthz.GateOff
				featuregatetesting.SetFeatureGateEmulationVersionDuringTest(t, utilfeature.DefaultFeatureGate, version.MustParse("1.35"))
			}
			featuregatetesting.SetFeatureGateDuringTest(t, utilfeature.DefaultFeatureGate, features.KubeletFineGrainedAuthz, on)
			m, err := kubeletauthz.New(o)
			if err != nil {
				t.Fatal(err)
			}
			check(t, m)
		})
	}
}

func same(ours kubeletauthz.Attributes, theirs []authorizer.Attributes) bool {
	return slices.EqualFunc(slices.Collect(ours.All()), theirs, func(a kubeletauthz.Attribute, b authorizer.Attributes) bool {
		return b.IsResourceRequest() && b.GetAPIGroup() == "" && b.GetNamespace() == "" && a == kubeletauthz.Attribute{
			Verb: b.GetVerb(), APIVersion: b.GetAPIVersion(), Resource: b.GetResource(), Subresource: b.GetSubresource(), Name: b.GetName(),
		}
	})
}

func TestDocumentedEndpoints(t *testing.T) {
	gates(t, func(t *testing.T, m kubeletauthz.Mapper) {
		for _, e := range kubeletauthz.Endpoints() {
			for _, method := range []string{"GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "get"} {
				if ours, theirs := m.Map(method, e.Path, ""), upstream(method, e.Path); !same(ours, theirs) {
					t.Errorf("Map(%s, %s) = %+v, kubelet %+v", method, e.Path, ours, theirs)
				}
			}
		}
	})
}

func TestAnyPath(t *testing.T) {
	pieces := []string{
		"/", "//", "..", ".", "pods", "runningpods", "healthz", "configz", "metrics", "stats", "logs", "checkpoint", "exec",
		"flagz", "statusz", "spec", "x", "é", ";", "%2F",
	}
	gates(t, func(t *testing.T, m kubeletauthz.Mapper) {
		rapid.Check(t, func(t *rapid.T) {
			path := strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 6).Draw(t, "path"), "")
			method := rapid.SampledFrom([]string{"GET", "POST", "HEAD", "PUT"}).Draw(t, "method")
			ours, theirs := m.Map(method, path, ""), upstream(method, path)
			if kubeletauthz.Clean(path, "") {
				if !same(ours, theirs) {
					t.Fatalf("Map(%s, %q) = %+v, kubelet %+v", method, path, ours, theirs)
				}
				return
			}
			if got := ours.Subresources(); !slices.Equal(got, []string{"proxy"}) || ours.Verb() != theirs[0].GetVerb() {
				t.Fatalf("Map(%s, %q) = %+v, want proxy alone", method, path, got)
			}
		})
	})
}
