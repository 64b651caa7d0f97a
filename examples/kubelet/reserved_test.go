package kubelet

import (
	"testing"

	"github.com/lanyard-dev/lanyard/execaudit"
)

func TestReserved(t *testing.T) {
	t.Run("EXA-7 the whole prefix is reserved by configuration, and only by it", func(t *testing.T) {
		if got := (Config{}).reserved(); got != execaudit.ReservedList {
			t.Errorf("reserved = %v, want the list", got)
		}
		if got := (Config{ReserveKubernetesPrefix: true}).reserved(); got != execaudit.ReservedPrefix {
			t.Errorf("reserved = %v, want the prefix", got)
		}
	})
}
