package puller

import (
	"context"

	authenticationv1 "k8s.io/api/authentication/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"

	"github.com/lanyard-dev/lanyard/credprovider"
	"github.com/lanyard-dev/lanyard/credprovider/provider"
	"github.com/lanyard-dev/lanyard/redact"
)

// Accounts asks the API server for service accounts.
type Accounts struct{ Client kubernetes.Interface }

// ServiceAccount returns the account as it is now.
func (a Accounts) ServiceAccount(ctx context.Context, namespace, name string) (credprovider.ServiceAccount, error) {
	found, err := a.Client.CoreV1().ServiceAccounts(namespace).Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return credprovider.ServiceAccount{}, err
	}
	return credprovider.ServiceAccount{Namespace: namespace, Name: name, UID: string(found.UID), Annotations: found.Annotations}, nil
}

// Tokens asks the API server for tokens by TokenRequest.
type Tokens struct{ Client kubernetes.Interface }

// Token returns a token for one audience that dies with the pod. The account's UID
// is a precondition: an account made again in the meantime gets none.
func (t Tokens) Token(ctx context.Context, r provider.TokenRequest) (provider.Token, error) {
	request := &authenticationv1.TokenRequest{
		ObjectMeta: metav1.ObjectMeta{UID: types.UID(r.Account.UID)},
		Spec: authenticationv1.TokenRequestSpec{
			Audiences: []string{r.Audience},
			BoundObjectRef: &authenticationv1.BoundObjectReference{
				APIVersion: "v1", Kind: "Pod", Name: r.PodName, UID: types.UID(r.PodUID),
			},
		},
	}
	got, err := t.Client.CoreV1().ServiceAccounts(r.Account.Namespace).CreateToken(ctx, r.Account.Name, request, metav1.CreateOptions{})
	if err != nil {
		return provider.Token{}, err
	}
	return provider.Token{Value: redact.New(got.Status.Token), Expires: got.Status.ExpirationTimestamp.Time}, nil
}
