package webhook

import (
	"slices"
	"testing"
	"time"

	"github.com/lanyard-dev/lanyard/execaudit/bridge/cmd/lanyard-bridge/internal/keys"
	"github.com/lanyard-dev/lanyard/execaudit/bridge/token"
)

func TestSignerAt(t *testing.T) {
	now := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	first, second := token.NewKey(), token.NewKey()
	private := []keys.Private{{Key: second, From: now}, {Key: first}}
	for name, test := range map[string]struct {
		at   time.Time
		want token.Keys
	}{
		"before its time a key stands behind those that sign": {now.Add(-time.Second), token.Keys{first.Public(), second.Public()}},
		"from its time on it is preferred":                    {now, token.Keys{second.Public(), first.Public()}},
	} {
		t.Run("BRG-2 "+name, func(t *testing.T) {
			if got := signerAt(private, test.at).Public(); !slices.Equal(got, test.want) {
				t.Fatalf("%v, want %v", got, test.want)
			}
		})
	}
}
