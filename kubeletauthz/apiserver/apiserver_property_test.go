package apiserver_test

import (
	"context"
	"reflect"
	"testing"

	"github.com/lanyard-dev/lanyard/kubeletauthz"
	"github.com/lanyard-dev/lanyard/kubeletauthz/apiserver"
	"github.com/lanyard-dev/lanyard/kubeletauthz/authorize"
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
			a := kubeletauthz.Attribute{
				Verb: text.Draw(t, "verb"), APIVersion: "v1", Resource: "nodes", Subresource: text.Draw(t, "subresource"), Name: text.Draw(t, "node"),
			}
			var asked authorizer.Attributes
			reviewer := apiserver.Reviewer(authorizer.AuthorizerFunc(func(_ context.Context, got authorizer.Attributes) (authorizer.Decision, string, error) {
				asked = got
				return authorizer.DecisionAllow, "", nil
			}))
			status, err := reviewer.Review(context.Background(), authorize.Spec(apiserver.User(u), a))
			if want := apiserver.Attributes(u, a, ""); err != nil || !status.Allowed || !reflect.DeepEqual(asked, want) {
				t.Fatalf("asked %+v, %v, want %+v", asked, err, want)
			}
		})
	})
}
