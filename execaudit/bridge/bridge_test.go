package bridge_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/lanyard-dev/lanyard/execaudit/bridge"
)

func TestParseSessionID(t *testing.T) {
	const good = "5ff1c7b9-0000-4000-8001-00000000000a"
	for _, c := range []struct {
		name, text string
		ok         bool
	}{
		{"BRG-1 a session ID", good, true},
		{"BRG-1 nothing", "", false},
		{"BRG-1 upper case", strings.ToUpper(good), false},
		{"BRG-1 no dashes", strings.ReplaceAll(good, "-", "") + "0000", false},
		{"BRG-1 another character for a dash", strings.Replace(good, "-", "_", 1), false},
		{"BRG-1 a dash in another place", "5ff1c7b-90000-4000-8001-00000000000a", false},
		{"BRG-1 not hexadecimal", strings.Replace(good, "a", "g", 1), false},
		{"BRG-1 space before it", " " + good[:35], false},
		{"BRG-1 a line end behind it", good + "\n", false},
		{"BRG-1 braces", "{" + good + "}", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			id, err := bridge.ParseSessionID(c.text)
			if c.ok {
				if err != nil || id.String() != c.text {
					t.Fatalf("ParseSessionID(%q) = %v, %v", c.text, id, err)
				}
				return
			}
			if !errors.Is(err, bridge.ErrBadSessionID) || id != (bridge.SessionID{}) {
				t.Fatalf("ParseSessionID(%q) = %v, %v, want %v", c.text, id, err, bridge.ErrBadSessionID)
			}
		})
	}
}

func TestLoginUIDs(t *testing.T) {
	t.Run("BRG-3 the range is positive as 32 bits, and not the value for none", func(t *testing.T) {
		if bridge.MinLoginUID != 2013265920 || bridge.MaxLoginUID != 2147483646 || bridge.MaxLoginUID > 1<<31-1 {
			t.Fatal(bridge.MinLoginUID, bridge.MaxLoginUID)
		}
	})
	t.Run("BRG-14 no session has the login UID of workloads", func(t *testing.T) {
		if bridge.WorkloadLoginUID >= bridge.MinLoginUID {
			t.Fatal(bridge.WorkloadLoginUID)
		}
	})
	t.Run("BRG-3 the ends of the range are reached and not left", func(t *testing.T) {
		for _, c := range []struct {
			id   bridge.SessionID
			want uint32
		}{
			{bridge.SessionID{}, bridge.MinLoginUID},
			{bridge.SessionID{15: 1}, bridge.MinLoginUID + 1},
			{bridge.SessionID{12: 0x07, 13: 0xff, 14: 0xff, 15: 0xfe}, bridge.MaxLoginUID},
			{bridge.SessionID{12: 0x07, 13: 0xff, 14: 0xff, 15: 0xff}, bridge.MinLoginUID},
		} {
			if got := c.id.LoginUID(); got != c.want {
				t.Errorf("LoginUID(%v) = %d, want %d", c.id, got, c.want)
			}
		}
	})
	t.Run("BRG-3 sessions at one time have login UIDs of their own", func(t *testing.T) {
		seen := map[uint32]int{}
		for range 1000 {
			seen[bridge.NewSessionID().LoginUID()]++
		}
		if len(seen) < 998 { // two of a thousand meet once in 268 runs
			t.Errorf("%d login UIDs of 1000 sessions", len(seen))
		}
	})
}
