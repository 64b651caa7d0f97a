package credprovider_test

import (
	"fmt"
	"testing"

	"github.com/lanyard-dev/lanyard/credprovider"
	"github.com/lanyard-dev/lanyard/redact"
)

// BenchmarkAppendMatches finds the one provider of many that serves an image; the patterns of half of them have
// wildcards.
func BenchmarkAppendMatches(b *testing.B) {
	for _, n := range []int{1, 10, 100, 1000} {
		lists := make([][]string, n)
		for i := range lists {
			lists[i] = []string{fmt.Sprintf("registry.zone%d.example.io/team", i)}
			if i%2 == 0 {
				lists[i] = []string{fmt.Sprintf("*.zone%d.example.io/team", i)}
			}
		}
		m, err := credprovider.NewMatcher(lists)
		if err != nil {
			b.Fatal(err)
		}
		var dst [1]int
		b.Run(fmt.Sprintf("providers-%d", n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				m.AppendMatches(dst[:0], "registry.zone0.example.io/team/app")
			}
		})
	}
}

func BenchmarkParseImage(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := credprovider.ParseImage("registry.example.io:5000/team/app:v1.2.3"); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkAccountKey(b *testing.B) {
	account := credprovider.AccountRef{Namespace: "namespace", Name: "service-account", UID: "d0f9a9e2-4c1f-4b52-9a0b-2f1c2d3e4f50"}
	annotations := map[string]string{"domain.io/identity-id": "12345", "domain.io/identity-type": "user"}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := credprovider.AccountKey(account, annotations, credprovider.CacheByServiceAccount, redact.Text{}); err != nil {
			b.Fatal(err)
		}
	}
}
