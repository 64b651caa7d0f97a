package bridge_test

import (
	"errors"
	"regexp"
	"testing"

	"pgregory.net/rapid"

	"github.com/lanyard-dev/lanyard/execaudit/bridge"
)

var uuid4 = regexp.MustCompile("^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$")

func drawID(t *rapid.T) (id bridge.SessionID) {
	copy(id[:], rapid.SliceOfN(rapid.Byte(), len(id), len(id)).Draw(t, "id"))
	return id
}

func TestSessionIDLaws(t *testing.T) {
	t.Run("BRG-1 an ID comes back from its text", rapid.MakeCheck(func(t *rapid.T) {
		id := drawID(t)
		if got, err := bridge.ParseSessionID(id.String()); err != nil || got != id {
			t.Fatalf("ParseSessionID(%s) = %v, %v", id, got, err)
		}
	}))
	t.Run("BRG-1 an ID has one text", rapid.MakeCheck(func(t *rapid.T) {
		text := []byte(drawID(t).String())
		text[rapid.IntRange(0, len(text)-1).Draw(t, "at")] = rapid.SampledFrom([]byte("0aAfFgG- \x00\xff")).Draw(t, "byte")
		got, err := bridge.ParseSessionID(string(text))
		if (err == nil) != (got.String() == string(text)) || (err != nil && !errors.Is(err, bridge.ErrBadSessionID)) {
			t.Fatalf("ParseSessionID(%q) = %v, %v", text, got, err)
		}
	}))
	t.Run("BRG-3 every ID has a login UID in the range, always the same", rapid.MakeCheck(func(t *rapid.T) {
		id := drawID(t)
		got := id.LoginUID()
		if got < bridge.MinLoginUID || got > bridge.MaxLoginUID || int32(got) < 0 || got != id.LoginUID() {
			t.Fatalf("LoginUID(%v) = %d", id, got)
		}
	}))
	t.Run("BRG-1 new IDs are UUIDs of version 4 and differ", func(t *testing.T) {
		seen := map[bridge.SessionID]bool{}
		for range 1000 {
			id := bridge.NewSessionID()
			if seen[id] || !uuid4.MatchString(id.String()) {
				t.Fatal(id)
			}
			seen[id] = true
		}
	})
}
