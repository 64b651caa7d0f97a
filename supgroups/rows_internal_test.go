package supgroups

import (
	"bytes"
	"testing"
)

// FuzzLastNewline holds the search by words against the one by bytes. The seeds are the neighbours of a newline that a
// search by words takes for one when it is wrong.
func FuzzLastNewline(f *testing.F) {
	for _, near := range []byte{0x0a, 0x0b, 0x09, 0x8a, 0x00, 0x80, 0xff} {
		for at := range 20 {
			text := bytes.Repeat([]byte{near}, 20)
			f.Add(text[:at])
			text[at] = '\n'
			f.Add(text)
		}
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if got, want := lastNewline(b), bytes.LastIndexByte(b, '\n'); got != want {
			t.Errorf("lastNewline(%q) = %d, want %d", b, got, want)
		}
	})
}
