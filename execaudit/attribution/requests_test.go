package attribution_test

import (
	"testing"

	"github.com/lanyard-dev/lanyard/execaudit/attribution"
)

func TestPanic(t *testing.T) {
	t.Run("ATT-14 a request that ended in a panic of the API server may have been a session", func(t *testing.T) {
		alice, mallory, shell := audit("id-a", "alice"), audit("id-a", "mallory"), first("id-a", 10, 100)
		mallory.Stage, mallory.Code = attribution.StagePanic, 500
		a := expect(t, story(attribution.Options{}, alice, mallory, shell), attribution.VerdictConflicting, attribution.ReasonReused)
		if len(a.Claims) != 2 {
			t.Errorf("claimed %v", a.Claims)
		}
	})
}

func TestGateway(t *testing.T) {
	t.Run("ATT-14 two requests of a gateway at one instant for two people are two", func(t *testing.T) {
		alice, bob, shell := audit("id-a", "gateway"), audit("id-a", "gateway"), first("id-a", 10, 100)
		alice.Impersonated, bob.Impersonated = &attribution.User{Name: "alice"}, &attribution.User{Name: "bob"}
		received := alice
		received.Stage, received.Impersonated, received.Code = attribution.StageRequestReceived, nil, 0
		for _, evidence := range [][]any{{received, alice, bob, shell}, {bob, received, alice, shell}, {alice, bob, received, shell}} {
			a := expect(t, story(attribution.Options{}, evidence...), attribution.VerdictConflicting, attribution.ReasonReused)
			if len(a.Claims) != 2 {
				t.Errorf("claimed %v", a.Claims)
			}
		}
	})
}
