package apiserver_test

import (
	"context"
	"net/http"
	"net/url"
	"reflect"
	"testing"

	"github.com/lanyard-dev/lanyard/kubeletauthz"
	"github.com/lanyard-dev/lanyard/kubeletauthz/apiserver"
	"github.com/lanyard-dev/lanyard/kubeletauthz/authorize"
	"k8s.io/apiserver/pkg/authentication/authenticator"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"pgregory.net/rapid"
)

func TestRoundTrip(t *testing.T) {
	t.Run("KAZ-5 user and attribute survive the way through a review", func(t *testing.T) {
		rapid.Check(t, func(t *rapid.T) {
			text := rapid.SampledFrom([]string{"", "a", "b", "a:b"})
			list := rapid.SliceOfN(text, 1, 3)
			u := &user.DefaultInfo{
				Name: text.Draw(t, "name"), UID: text.Draw(t, "uid"), Groups: list.Draw(t, "groups"),
				Extra: rapid.MapOfN(text, list, 0, 3).Draw(t, "extra"),
			}
			method := rapid.SampledFrom([]string{"GET", "POST", "HEAD"}).Draw(t, "method")
			path := rapid.SampledFrom([]string{"/pods", "/metrics", "/exec/a/b/c", "//"}).Draw(t, "path")
			m, err := kubeletauthz.New(kubeletauthz.Options{Node: text.Draw(t, "node")})
			if err != nil {
				t.Fatal(err)
			}
			var asked authorizer.Attributes
			reviewer := apiserver.Reviewer(authorizer.AuthorizerFunc(func(_ context.Context, got authorizer.Attributes) (authorizer.Decision, string, error) {
				asked = got
				return authorizer.DecisionAllow, "", nil
			}))
			r := &http.Request{Method: method, URL: &url.URL{Path: path}}
			who, known, err := apiserver.Authenticator(fixed{&authenticator.Response{User: u}, true, nil}).Authenticate(r)
			if err != nil || !known {
				t.Fatalf("Authenticate = %v, %v, want the user", known, err)
			}
			verdict, err := authorize.New(reviewer, authorize.Options{}).Authorize(context.Background(), who, m.Map(method, path, ""))
			want := apiserver.Getter{Mapper: m}.GetRequestAttributes(context.Background(), u, r)[0].(authorizer.AttributesRecord)
			want.Path = "" // which a review does not carry
			if err != nil || !verdict.Allowed || !reflect.DeepEqual(asked, authorizer.Attributes(want)) {
				t.Fatalf("asked %+v, %v, want %+v", asked, err, want)
			}
		})
	})
}
