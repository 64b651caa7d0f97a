package rbac_test

import (
	"fmt"
	"testing"

	"github.com/lanyard-dev/lanyard/kubeletauthz/rbac"
	rbacv1 "k8s.io/api/rbac/v1"
)

// BenchmarkAuthorize refuses one request in a cluster of 200 bindings, ten of which are the user's.
func BenchmarkAuthorize(b *testing.B) {
	store := &rbac.Snapshot{Cluster: []*rbacv1.ClusterRole{clusterRole("r", readPods, readNodes)}}
	for i := range 200 {
		store.ClusterBindings = append(store.ClusterBindings, clusterBinding(fmt.Sprint(i), "r", user(fmt.Sprint(i%20))))
	}
	authorizer := rbac.New(store)
	b.ReportAllocs()
	for b.Loop() {
		if answer, err := authorizer.Authorize(b.Context(), rbac.Request{User: "7", Verb: "delete", Resource: "nodes"}); answer.Allowed || err != nil {
			b.Fatal(answer, err)
		}
	}
}
