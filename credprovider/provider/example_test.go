package provider_test

import (
	"context"
	"fmt"
	"time"

	"github.com/lanyard-dev/lanyard/credprovider"
	"github.com/lanyard-dev/lanyard/credprovider/provider"
	"github.com/lanyard-dev/lanyard/redact"
)

// static answers without a process.
type static struct{}

func (static) Run(_ context.Context, r credprovider.Request) (credprovider.Response, error) {
	return credprovider.Response{
		APIVersion: r.APIVersion, CacheKeyType: credprovider.KeyRegistry,
		Auth: map[string]credprovider.AuthConfig{"registry.example.io": {Username: "node", Password: redact.New("s3cret")}},
	}, nil
}

func ExamplePool_Lookup() {
	config := credprovider.Config{Providers: []credprovider.Provider{{
		Name: "static", MatchImages: []string{"*.example.io"}, APIVersion: credprovider.V1, DefaultCacheDuration: credprovider.NewDuration(time.Minute),
	}}}
	pool, err := provider.New(config, []provider.Runner{static{}}, provider.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	image, err := credprovider.ParseImage("registry.example.io/team/app:1.0")
	if err != nil {
		fmt.Println(err)
		return
	}
	found, err := pool.Lookup(context.Background(), image.Repository, provider.Pod{Namespace: "team", Name: "app-1"})
	fmt.Println(len(found), found[0].Username, found[0].Password, err)
	// Output: 1 node [redacted] <nil>
}
