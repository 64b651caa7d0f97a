package apiserver_test

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"
	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/lanyard-dev/lanyard/examples/apiserver"
)

func whoami(t testing.TB, client kubernetes.Interface) authenticationv1.UserInfo {
	t.Helper()
	review := must(client.AuthenticationV1().SelfSubjectReviews().Create(t.Context(), &authenticationv1.SelfSubjectReview{}, metav1.CreateOptions{}))(t)
	return review.Status.UserInfo
}

func TestAuthentication(t *testing.T) {
	c := start(t, nil)
	t.Run("STK-4 client certificate: name and groups, with the credential's ID", func(t *testing.T) {
		who := whoami(t, c.client(t, c.certificate(t, "dora", "dev")))
		if who.Username != "dora" || !slices.Equal(who.Groups, []string{"dev", "system:authenticated"}) || len(who.Extra) != 1 {
			t.Errorf("whoami = %+v", who)
		}
	})
	t.Run("STK-4 static token", func(t *testing.T) {
		if who := whoami(t, c.client(t, c.token("alice-token"))); who.Username != "alice" || who.UID != "u-alice" {
			t.Errorf("whoami = %+v", who)
		}
	})
	for name, config := range map[string]*rest.Config{
		"no credentials":          {Host: c.URL(), TLSClientConfig: rest.TLSClientConfig{CAData: c.ca.PEM()}},
		"a wrong token":           c.token("wrong"),
		"a certificate of others": otherCertificate(t, c),
	} {
		t.Run("STK-4 refuses "+name, func(t *testing.T) {
			_, err := c.client(t, config).CoreV1().Pods("default").List(t.Context(), metav1.ListOptions{})
			if err == nil || !apierrors.IsUnauthorized(err) && !strings.Contains(err.Error(), "certificate") {
				t.Errorf("list = %v, want a refusal", err)
			}
		})
	}
	t.Run("STK-4 anonymous when asked for, with rights of RBAC alone", func(t *testing.T) {
		open := start(t, func(o *apiserver.Options) { o.Anonymous = true })
		anonymous := open.client(t, &rest.Config{Host: open.URL(), TLSClientConfig: rest.TLSClientConfig{CAData: open.ca.PEM()}})
		_, err := anonymous.CoreV1().Pods("default").List(t.Context(), metav1.ListOptions{})
		if !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), "system:anonymous") {
			t.Errorf("list = %v, want Forbidden for system:anonymous", err)
		}
	})
	t.Run("STK-4 impersonation needs the right and shows in whoami", func(t *testing.T) {
		as := c.token("admin-token")
		as.Impersonate = rest.ImpersonationConfig{UserName: "eve", Groups: []string{"g"}}
		if who := whoami(t, c.client(t, as)); who.Username != "eve" || !slices.Contains(who.Groups, "g") {
			t.Errorf("whoami = %+v", who)
		}
		bob := c.token("bob-token")
		bob.Impersonate.UserName = "eve"
		_, err := c.client(t, bob).CoreV1().Pods("default").List(t.Context(), metav1.ListOptions{})
		if !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), "impersonate") {
			t.Errorf("list as eve = %v, want Forbidden", err)
		}
	})
}

// otherCertificate is signed by an authority of the same name that the server does not know.
func otherCertificate(t testing.TB, c *cluster) *rest.Config {
	other := &cluster{}
	other.prepare(t)
	other.Server = c.Server
	config := other.certificate(t, "admin", "system:masters")
	config.CAData = c.ca.PEM()
	return config
}

// requestToken asks for a token of the account default for an audience, bound to a pod when it is not nil.
func requestToken(t testing.TB, client kubernetes.Interface, audience string, pod *corev1.Pod) *authenticationv1.TokenRequest {
	t.Helper()
	r := &authenticationv1.TokenRequest{}
	if audience != "" {
		r.Spec.Audiences = []string{audience}
	}
	if pod != nil {
		r.Spec.BoundObjectRef = &authenticationv1.BoundObjectReference{APIVersion: "v1", Kind: "Pod", Name: pod.Name, UID: pod.UID}
	}
	return must(client.CoreV1().ServiceAccounts("default").CreateToken(t.Context(), "default", r, metav1.CreateOptions{}))(t)
}

func review(t testing.TB, client kubernetes.Interface, token string, audiences ...string) authenticationv1.TokenReviewStatus {
	t.Helper()
	r := &authenticationv1.TokenReview{Spec: authenticationv1.TokenReviewSpec{Token: token, Audiences: audiences}}
	return must(client.AuthenticationV1().TokenReviews().Create(t.Context(), r, metav1.CreateOptions{}))(t).Status
}

func TestServiceAccountTokens(t *testing.T) {
	c := start(t, nil)
	client := c.client(t, c.admin())
	one := must(client.CoreV1().Pods("default").Get(t.Context(), "one", metav1.GetOptions{}))(t)
	t.Run("STK-4 STK-5 a token logs in as its account", func(t *testing.T) {
		token := requestToken(t, client, "", one)
		who := whoami(t, c.client(t, c.token(token.Status.Token)))
		if who.Username != "system:serviceaccount:default:default" || !slices.Contains(who.Groups, "system:serviceaccounts:default") {
			t.Errorf("whoami = %+v", who)
		}
		if got := who.Extra["authentication.kubernetes.io/pod-name"]; !slices.Equal(got, []string{"one"}) {
			t.Errorf("extra = %v", who.Extra)
		}
		if got := who.Extra["authentication.kubernetes.io/node-name"]; !slices.Equal(got, []string{"n1"}) {
			t.Errorf("extra = %v", who.Extra)
		}
	})
	t.Run("STK-4 its audience counts, in requests and in reviews", func(t *testing.T) {
		token := requestToken(t, client, "registry", one).Status.Token
		if _, err := c.client(t, c.token(token)).AuthenticationV1().SelfSubjectReviews().Create(t.Context(), &authenticationv1.SelfSubjectReview{}, metav1.CreateOptions{}); !apierrors.IsUnauthorized(err) {
			t.Errorf("request with a token for a registry = %v, want Unauthorized", err)
		}
		if s := review(t, client, token); s.Authenticated {
			t.Errorf("review without audiences = %+v", s)
		}
		if s := review(t, client, token, "registry", "other"); !s.Authenticated || !slices.Equal(s.Audiences, []string{"registry"}) {
			t.Errorf("review for the registry = %+v", s)
		}
	})
	t.Run("STK-4 others check it by discovery and key set", func(t *testing.T) { verifies(t, c, requestToken(t, client, "registry", one)) })
	t.Run("STK-4 a short life, a wrong UID, a pod of another account are refused", func(t *testing.T) {
		accounts := client.CoreV1().ServiceAccounts("default")
		short := int64(60)
		_, err := accounts.CreateToken(t.Context(), "default", &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{ExpirationSeconds: &short}}, metav1.CreateOptions{})
		if !apierrors.IsInvalid(err) {
			t.Errorf("a minute = %v, want Invalid", err)
		}
		ref := &authenticationv1.BoundObjectReference{APIVersion: "v1", Kind: "Pod", Name: "one", UID: "other"}
		_, err = accounts.CreateToken(t.Context(), "default", &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{BoundObjectRef: ref}}, metav1.CreateOptions{})
		if !apierrors.IsConflict(err) {
			t.Errorf("another UID = %v, want Conflict", err)
		}
		must(accounts.Create(t.Context(), &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "other"}}, metav1.CreateOptions{}))(t)
		ref.UID = one.UID
		_, err = accounts.CreateToken(t.Context(), "other", &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{BoundObjectRef: ref}}, metav1.CreateOptions{})
		if !apierrors.IsBadRequest(err) {
			t.Errorf("another account = %v, want BadRequest", err)
		}
	})
	t.Run("STK-4 a token dies with its pod", func(t *testing.T) {
		token := requestToken(t, client, "", one).Status.Token
		now := int64(0)
		if err := client.CoreV1().Pods("default").Delete(t.Context(), "one", metav1.DeleteOptions{GracePeriodSeconds: &now}); err != nil {
			t.Fatal(err)
		}
		if s := review(t, client, token); s.Authenticated {
			t.Errorf("review = %+v", s)
		}
	})
}

// verifies checks a token as a stranger would: from the discovery document alone.
func verifies(t *testing.T, c *cluster, token *authenticationv1.TokenRequest) {
	get := func(url string, into any) {
		t.Helper()
		client := must(rest.HTTPClientFor(c.admin()))(t)
		response := must(client.Get(url))(t)
		defer response.Body.Close()
		if err := json.NewDecoder(response.Body).Decode(into); err != nil || response.StatusCode != http.StatusOK {
			t.Fatalf("%s: %d, %v", url, response.StatusCode, err)
		}
	}
	var document struct {
		Issuer string
		Keys   string `json:"jwks_uri"`
	}
	get(c.URL()+"/.well-known/openid-configuration", &document)
	var keys jose.JSONWebKeySet
	get(document.Keys, &keys)
	parsed := must(jwt.ParseSigned(token.Status.Token, []jose.SignatureAlgorithm{jose.ES256}))(t)
	var claims struct {
		jwt.Claims
		Kubernetes struct {
			Pod struct {
				Name string `json:"name"`
			} `json:"pod"`
		} `json:"kubernetes.io"`
	}
	if err := parsed.Claims(keys.Key(parsed.Headers[0].KeyID)[0], &claims); err != nil {
		t.Fatal(err)
	}
	if err := claims.Validate(jwt.Expected{Issuer: document.Issuer, AnyAudience: jwt.Audience{"registry"}, Time: time.Now()}); err != nil {
		t.Error(err)
	}
	if claims.Kubernetes.Pod.Name != "one" || claims.Subject != "system:serviceaccount:default:default" {
		t.Errorf("claims = %+v", claims)
	}
	if !claims.Expiry.Time().Equal(token.Status.ExpirationTimestamp.Truncate(time.Second)) {
		t.Errorf("exp = %v, status says %v", claims.Expiry.Time(), token.Status.ExpirationTimestamp)
	}
}

func TestAuthorization(t *testing.T) {
	c := start(t, nil)
	admin := c.client(t, c.admin())
	alice := c.client(t, c.token("alice-token"))
	t.Run("STK-4 a role counts from the next request, and no longer when its binding is gone", func(t *testing.T) {
		list := func() error {
			_, err := alice.CoreV1().Pods("default").List(t.Context(), metav1.ListOptions{})
			return err
		}
		if err := list(); !apierrors.IsForbidden(err) {
			t.Errorf("before = %v, want Forbidden", err)
		}
		grant(t, admin, "default", "alice", rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"pods"}, Verbs: []string{"list", "get"}})
		if err := list(); err != nil {
			t.Errorf("with the role = %v", err)
		}
		if err := admin.RbacV1().RoleBindings("default").Delete(t.Context(), "alice", metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
		if err := list(); !apierrors.IsForbidden(err) {
			t.Errorf("after = %v, want Forbidden", err)
		}
	})
	t.Run("STK-4 reading pods does not open a WebSocket session", func(t *testing.T) {
		rule := rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"pods/exec"}, Verbs: []string{"get"}}
		grant(t, admin, "default", "bob", rule)
		if _, err := c.exec(t, c.token("bob-token"), session{}, "env"); err == nil || !strings.Contains(err.Error(), "create") {
			t.Errorf("exec with get = %v, want a refusal that asks for create", err)
		}
		rule.Verbs = []string{"get", "create"}
		grant(t, admin, "default", "bob", rule)
		must(c.exec(t, c.token("bob-token"), session{}, "env"))(t)
	})
	t.Run("STK-4 KAZ-9 SubjectAccessReview answers for others, kubelets' rights included", func(t *testing.T) {
		ask := func(user, subresource string) bool {
			r := &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{User: user, ResourceAttributes: &authorizationv1.ResourceAttributes{
				Verb: "get", Version: "v1", Resource: "nodes", Subresource: subresource, Name: "n1",
			}}}
			return must(admin.AuthorizationV1().SubjectAccessReviews().Create(t.Context(), r, metav1.CreateOptions{}))(t).Status.Allowed
		}
		binding := &rbacv1.ClusterRoleBinding{
			ObjectMeta: metav1.ObjectMeta{Name: "kubelet-api"},
			RoleRef:    rbacv1.RoleRef{Kind: "ClusterRole", Name: "system:kubelet-api-admin"},
			Subjects:   []rbacv1.Subject{{Kind: "User", Name: "kube-apiserver"}},
		}
		must(admin.RbacV1().ClusterRoleBindings().Create(t.Context(), binding, metav1.CreateOptions{}))(t)
		for _, subresource := range []string{"proxy", "pods", "healthz", "configz"} {
			if !ask("kube-apiserver", subresource) || ask("alice", subresource) {
				t.Errorf("nodes/%s: kube-apiserver %v, alice %v", subresource, ask("kube-apiserver", subresource), ask("alice", subresource))
			}
		}
	})
}

func TestLocalReview(t *testing.T) {
	c := start(t, nil)
	admin := c.client(t, c.admin())
	grant(t, admin, "default", "alice", rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"pods"}, Verbs: []string{"get"}})
	ask := func(namespace, about string) (*authorizationv1.LocalSubjectAccessReview, error) {
		r := &authorizationv1.LocalSubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{User: "alice", ResourceAttributes: &authorizationv1.ResourceAttributes{
			Verb: "get", Resource: "pods", Namespace: about,
		}}}
		r.Namespace = namespace
		return admin.AuthorizationV1().LocalSubjectAccessReviews(namespace).Create(t.Context(), r, metav1.CreateOptions{})
	}
	t.Run("STK-4 a LocalSubjectAccessReview is about its own namespace", func(t *testing.T) {
		if r := must(ask("default", "default"))(t); !r.Status.Allowed || !strings.Contains(r.Status.Reason, `RoleBinding "alice/default"`) {
			t.Errorf("status = %+v", r.Status)
		}
		if r := must(ask("kube-system", "kube-system"))(t); r.Status.Allowed {
			t.Errorf("status = %+v", r.Status)
		}
		if _, err := ask("default", "kube-system"); !apierrors.IsBadRequest(err) {
			t.Errorf("about another namespace = %v, want BadRequest", err)
		}
	})
}

// grant gives a user a role of its own name with one rule.
func grant(t testing.TB, admin kubernetes.Interface, namespace, user string, rule rbacv1.PolicyRule) {
	t.Helper()
	now := metav1.DeleteOptions{}
	_ = admin.RbacV1().Roles(namespace).Delete(t.Context(), user, now)
	_ = admin.RbacV1().RoleBindings(namespace).Delete(t.Context(), user, now)
	meta := metav1.ObjectMeta{Name: user}
	must(admin.RbacV1().Roles(namespace).Create(t.Context(), &rbacv1.Role{ObjectMeta: meta, Rules: []rbacv1.PolicyRule{rule}}, metav1.CreateOptions{}))(t)
	must(admin.RbacV1().RoleBindings(namespace).Create(t.Context(), &rbacv1.RoleBinding{
		ObjectMeta: meta, RoleRef: rbacv1.RoleRef{Kind: "Role", Name: user}, Subjects: []rbacv1.Subject{{Kind: "User", Name: user}},
	}, metav1.CreateOptions{}))(t)
}
