package authorize_test

import (
	"context"
	"fmt"

	"github.com/lanyard-dev/lanyard/kubeletauthz"
	"github.com/lanyard-dev/lanyard/kubeletauthz/authorize"
	authorizationv1 "k8s.io/api/authorization/v1"
)

// An agent that may only get nodes/pods lists pods and cannot exec.
func ExampleAuthorizer() {
	apiServer := authorize.ReviewerFunc(func(_ context.Context, q authorizationv1.SubjectAccessReviewSpec) (authorizationv1.SubjectAccessReviewStatus, error) {
		a := q.ResourceAttributes
		fmt.Println("asked:", q.User, a.Verb, a.Resource+"/"+a.Subresource)
		return authorizationv1.SubjectAccessReviewStatus{Allowed: a.Verb == "get" && a.Subresource == "pods"}, nil
	})
	authorizer := authorize.New(authorize.NewCache(apiServer, authorize.CacheOptions{}), authorize.Options{})
	mapper, _ := kubeletauthz.New(kubeletauthz.Options{Node: "node-1"})
	user := authorize.User{Name: "agent"}
	for _, path := range []string{"/pods", "/exec/ns/pod/app", "/pods"} {
		verdict, err := authorizer.Authorize(context.Background(), user, mapper.Map("GET", path, ""))
		fmt.Println(path, verdict.Allowed, err)
	}
	// Output:
	// asked: agent get nodes/pods
	// /pods true <nil>
	// asked: agent get nodes/proxy
	// /exec/ns/pod/app false <nil>
	// /pods true <nil>
}
