package bridge_test

import (
	"testing"

	_ "helm.sh/helm/v3/pkg/action"
	_ "helm.sh/helm/v3/pkg/lint"

	"github.com/lanyard-dev/lanyard/examples/bridge"
)

func TestChart(t *testing.T) {
	if _, err := bridge.LoadChart(); err != nil {
		t.Fatal(err)
	}
}
