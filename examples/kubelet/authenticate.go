package kubelet

import (
	"crypto/x509"
	"fmt"
	"os"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apiserver/pkg/authentication/authenticator"
	"k8s.io/apiserver/pkg/authentication/authenticatorfactory"
	"k8s.io/apiserver/pkg/server/dynamiccertificates"
	"k8s.io/client-go/kubernetes"
)

// tokenTTL is how long the API server's word on a token is remembered.
const tokenTTL = 2 * time.Minute

// authentication knows client certificates of the CA and tokens that the API
// server vouches for; nobody is anonymous.
func authentication(client kubernetes.Interface, caFile string) (authenticator.Request, error) {
	bundle, err := os.ReadFile(caFile)
	if err != nil {
		return nil, err
	}
	authorities, err := dynamiccertificates.NewStaticCAContent("client-ca", bundle)
	if err != nil {
		return nil, err
	}
	request, _, err := authenticatorfactory.DelegatingAuthenticatorConfig{
		TokenAccessReviewClient:            client.AuthenticationV1(),
		TokenAccessReviewTimeout:           10 * time.Second,
		WebhookRetryBackoff:                &wait.Backoff{Duration: 100 * time.Millisecond, Factor: 2, Steps: 3},
		CacheTTL:                           tokenTTL,
		ClientCertificateCAContentProvider: authorities,
	}.New()
	return request, err
}

func clientAuthorities(caFile string) (*x509.CertPool, error) {
	bundle, err := os.ReadFile(caFile)
	if err != nil {
		return nil, err
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(bundle) {
		return nil, fmt.Errorf("clientCAFile %q: no certificate in it", caFile)
	}
	return pool, nil
}
