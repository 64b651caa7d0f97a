package credprovider_test

import (
	"fmt"
	"time"

	"github.com/lanyard-dev/lanyard/credprovider"
	"github.com/lanyard-dev/lanyard/redact"
)

func ExampleMatcher_AppendMatches() {
	matcher, err := credprovider.NewMatcher([][]string{{"*.example.io"}, {"registry.example.io/team/"}, {"*.dkr.ecr.*.amazonaws.com"}})
	if err != nil {
		fmt.Println(err)
		return
	}
	image, err := credprovider.ParseImage("registry.example.io/team/app:1.0")
	fmt.Println(image.Repository, err)
	fmt.Println(matcher.AppendMatches(nil, image.Repository))
	// Output:
	// registry.example.io/team/app <nil>
	// [0 1]
}

func ExampleValidate() {
	err := credprovider.Validate(credprovider.Config{Providers: []credprovider.Provider{{
		Name: "my plugin", MatchImages: []string{"*.example.io"}, APIVersion: credprovider.V1beta1, DefaultCacheDuration: credprovider.NewDuration(time.Minute),
		TokenAttributes: &credprovider.TokenAttributes{CacheType: credprovider.CacheByToken},
		Origin:          credprovider.Origin{File: "plugins.yaml"},
	}}}, credprovider.Gates{KubeletServiceAccountTokenForCredentialProviders: true})
	fmt.Println(err)
	// Output:
	// plugins.yaml: providers[0].name: Invalid value: "my plugin": provider name cannot contain spaces
	// plugins.yaml: providers[0].tokenAttributes.serviceAccountTokenAudience: Required value
	// plugins.yaml: providers[0].tokenAttributes.requireServiceAccount: Required value
	// plugins.yaml: providers[0].tokenAttributes: Forbidden: tokenAttributes is only supported for credentialprovider.kubelet.k8s.io/v1 API version
}

func ExampleCredentials() {
	auth := map[string]credprovider.AuthConfig{
		"*.example.io":             {Username: "anyone", Password: redact.New("s3cret")},
		"registry.example.io/team": {Username: "team", Password: redact.New("s3cret")},
	}
	for _, c := range credprovider.Credentials("registry.example.io/team/app", credprovider.NewKeyring("my-plugin", nil, auth)) {
		fmt.Println(c.Pattern, c.Username, c.Password)
	}
	// Output:
	// registry.example.io/team team [redacted]
	// *.example.io anyone [redacted]
}
