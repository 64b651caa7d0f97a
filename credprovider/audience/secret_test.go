package audience_test

import (
	"testing"

	authenticationv1 "k8s.io/api/authentication/v1"

	"github.com/lanyard-dev/lanyard/credprovider/audience"
	"github.com/lanyard-dev/lanyard/credprovider/internal/testprint"
)

func TestNothingIsShown(t *testing.T) {
	t.Run("MOD-9 CRP-22 a Request made of an answered TokenRequest, by fmt, JSON and slog", func(t *testing.T) {
		const secret = "hunter2-4711"
		answered := authenticationv1.TokenRequest{
			Spec:   authenticationv1.TokenRequestSpec{Audiences: []string{"aud"}},
			Status: authenticationv1.TokenRequestStatus{Token: secret},
		}
		if text := testprint.Leaks(audience.Request{Node: "n1", Namespace: "ns", Name: "sa", Spec: answered.Spec}, secret); text != "" {
			t.Errorf("the secret is in %s", text)
		}
	})
}
