package bridge_test

import (
	"testing"

	"github.com/lanyard-dev/lanyard/execaudit/bridge"
)

func FuzzParseSessionID(f *testing.F) {
	for _, seed := range []string{"", "5ff1c7b9-0000-4000-8001-00000000000a", "5FF1C7B9-0000-4000-8001-00000000000A", "5ff1c7b9000040008001000000000000a0000", "------------------------------------"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		id, err := bridge.ParseSessionID(text)
		if err == nil && id.String() != text || err != nil && id != (bridge.SessionID{}) {
			t.Fatalf("ParseSessionID(%q) = %v, %v", text, id, err)
		}
	})
}
