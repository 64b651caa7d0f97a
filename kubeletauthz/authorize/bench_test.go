package authorize_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/lanyard-dev/lanyard/kubeletauthz/authorize"
	authorizationv1 "k8s.io/api/authorization/v1"
)

var always = authorize.ReviewerFunc(func(context.Context, spec) (status, error) { return allow, nil })

// agent is a service account as a bound token shows it.
func agent(i int) authorize.User {
	return authorize.User{
		Name: fmt.Sprintf("system:serviceaccount:monitoring:agent-%d", i), UID: "0b9b6a1e-7e55-4c3d-9d5f-3a3b1d1c2f11",
		Groups: []string{"system:serviceaccounts", "system:serviceaccounts:monitoring", "system:authenticated"},
		Extra: map[string]authorizationv1.ExtraValue{
			"authentication.kubernetes.io/pod-name":  {"agent-x7k2p"},
			"authentication.kubernetes.io/node-name": {"node-1"},
		},
	}
}

// BenchmarkCached is the cost of a decision whose answer is remembered.
func BenchmarkCached(b *testing.B) {
	authorizer := authorize.New(authorize.NewCache(always, authorize.CacheOptions{}), authorize.Options{})
	user, a := agent(0), attributes(b, "/pods", 0)
	b.ReportAllocs()
	for b.Loop() {
		if v, err := authorizer.Authorize(b.Context(), user, a); err != nil || !v.Allowed {
			b.Fatal(v, err)
		}
	}
}

// BenchmarkCachedBy64 is the same with 64 goroutines and 64 users.
func BenchmarkCachedBy64(b *testing.B) {
	authorizer := authorize.New(authorize.NewCache(always, authorize.CacheOptions{}), authorize.Options{})
	a := attributes(b, "/pods", 0)
	users := make(chan authorize.User, 1024)
	for i := range 1024 {
		users <- agent(i % 64)
	}
	b.SetParallelism(64)
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		user := <-users
		for pb.Next() {
			if v, err := authorizer.Authorize(b.Context(), user, a); err != nil || !v.Allowed {
				b.Error(v, err)
			}
		}
	})
}

// BenchmarkMiss is the cost of a question that is asked, evictions included, over a reviewer that answers at once.
func BenchmarkMiss(b *testing.B) {
	cache := authorize.NewCache(always, authorize.CacheOptions{Entries: 1024})
	q := question("")
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		q.UID = fmt.Sprint(i)
		if _, err := cache.Review(b.Context(), q); err != nil {
			b.Fatal(err)
		}
	}
}
