package apiserver_test

import (
	"bytes"
	"io"
	"math/rand/v2"
	"testing"
)

// TestBulk sends much through a session and back: nothing is lost at the end of a stream.
func TestBulk(t *testing.T) {
	c := start(t, nil)
	sent := make([]byte, 8<<20)
	random := rand.NewChaCha8([32]byte{})
	if _, err := io.ReadFull(random, sent); err != nil {
		t.Fatal(err)
	}
	for name, spdy := range map[string]bool{"WebSocket": false, "SPDY": true} {
		t.Run("STK-5 8 MiB there and back over "+name, func(t *testing.T) {
			var got bytes.Buffer
			if _, err := c.exec(t, c.admin(), session{spdy: spdy, stdin: bytes.NewReader(sent), stdout: &got}, "cat"); err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(got.Bytes(), sent) {
				t.Errorf("%d bytes came back, or others", got.Len())
			}
		})
	}
}
