package attribution_test

import (
	"testing"

	"github.com/lanyard-dev/lanyard/execaudit/attribution"
)

func TestFilterClaims(t *testing.T) {
	of := func(user, pod string) *attribution.Session {
		return &attribution.Session{User: attribution.User{Name: user}, Namespace: "shop", Pod: pod}
	}
	spoofed := attribution.Answer{Session: of("mallory", "web-0"), Claims: []*attribution.Session{of("alice", "web-0"), of("bob", "web-1")}}
	for _, c := range []struct {
		name   string
		filter attribution.Filter
		want   bool
	}{
		{"ATT-10 a fact's user", attribution.Filter{User: "mallory"}, true},
		{"ATT-10 ATT-13 whose ID a fact's process claims", attribution.Filter{User: "alice"}, true},
		{"ATT-10 ATT-14 the second of two requests of one ID", attribution.Filter{User: "bob"}, true},
		{"ATT-10 nobody of them", attribution.Filter{User: "carol"}, false},
		{"ATT-10 no two of them together", attribution.Filter{User: "bob", Pod: "web-0"}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := c.filter.Match(&spoofed); got != c.want {
				t.Errorf("Match = %t", got)
			}
		})
	}
}
