package apiserver_test

import (
	"net/http/httptest"
	"testing"
)

// BenchmarkGetter is the mapping with k8s.io/apiserver's records around it, which allocate.
func BenchmarkGetter(b *testing.B) {
	g, r := getter(b), httptest.NewRequest("GET", "/pods", nil)
	b.ReportAllocs()
	for b.Loop() {
		g.GetRequestAttributes(b.Context(), jane, r)
	}
}
