package apiserver_test

import (
	"context"
	"fmt"
	"net/http/httptest"

	"github.com/lanyard-dev/lanyard/kubeletauthz"
	"github.com/lanyard-dev/lanyard/kubeletauthz/apiserver"
	"k8s.io/apiserver/pkg/authentication/user"
)

func ExampleGetter() {
	mapper, _ := kubeletauthz.New(kubeletauthz.Options{Node: "node-1"})
	getter := apiserver.Getter{Mapper: mapper}
	u := &user.DefaultInfo{Name: "agent"}
	for _, a := range getter.GetRequestAttributes(context.Background(), u, httptest.NewRequest("GET", "/healthz", nil)) {
		fmt.Println(a.GetUser().GetName(), a.GetVerb(), a.GetResource()+"/"+a.GetSubresource(), a.GetName())
	}
	// Output:
	// agent get nodes/healthz node-1
	// agent get nodes/proxy node-1
}
