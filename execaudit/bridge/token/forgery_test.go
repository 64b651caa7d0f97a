package token_test

import (
	"encoding/base64"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/lanyard-dev/lanyard/execaudit/bridge"
	"github.com/lanyard-dev/lanyard/execaudit/bridge/token"
)

func TestEveryBit(t *testing.T) {
	key := token.NewKey()
	keys := token.Keys{key.Public()}
	text := sign(t, key, sample())
	raw, err := base64.RawURLEncoding.DecodeString(text[15:])
	if err != nil {
		t.Fatal(err)
	}
	t.Run("BRG-4 no bit of a token can be changed", func(t *testing.T) {
		for i := range raw {
			for bit := range 8 {
				changed := slices.Clone(raw)
				changed[i] ^= 1 << bit
				if got, err := keys.Verify(text[:15]+base64.RawURLEncoding.EncodeToString(changed), at, time.Hour); err == nil || got != (token.Token{}) {
					t.Fatalf("bit %d of byte %d changed: %+v, %v", bit, i, got, err)
				}
			}
		}
	})
	t.Run("BRG-4 no bit of a text can be changed", func(t *testing.T) {
		for i := range len(text) {
			for bit := range 8 {
				changed := []byte(text)
				changed[i] ^= 1 << bit
				if got, err := keys.Verify(string(changed), at, time.Hour); err == nil || got != (token.Token{}) {
					t.Fatalf("bit %d of byte %d changed: %+v, %v", bit, i, got, err)
				}
			}
		}
	})
	t.Run("BRG-4 no token can be cut or extended", func(t *testing.T) {
		for i := range raw {
			if _, err := keys.Verify(text[:15]+base64.RawURLEncoding.EncodeToString(raw[:i]), at, 0); err == nil {
				t.Fatalf("cut to %d bytes", i)
			}
		}
		for _, more := range []string{"\x00", "A", string(raw)} {
			if _, err := keys.Verify(text[:15]+base64.RawURLEncoding.EncodeToString(append(slices.Clone(raw), more...)), at, 0); err == nil {
				t.Fatalf("extended by %q", more)
			}
		}
	})
}

func TestSignedAndWrong(t *testing.T) {
	// What no Sign makes: signed with the key, by a program that knows it, and refused all the same.
	key := token.NewKey()
	for _, c := range []struct {
		name    string
		value   func(*token.Token)
		payload func([]byte) []byte
		want    error
		says    string
	}{
		{"BRG-2 a lifetime that is too long", func(v *token.Token) { v.Expiry = v.NotBefore.Add(time.Hour) }, nil, token.ErrField, "bad token field: expiry is 3600 s after not before, more than 600 s"},
		{"BRG-2 a session of zeros", func(v *token.Token) { v.Session = bridge.SessionID{} }, nil, token.ErrField, "bad token field: session is zero"},
		{"BRG-2 an escape sequence in a name", func(v *token.Token) { v.Pod.Name = "\x1b[2J" }, nil, token.ErrField, "bad token field: pod name is not printable ASCII without spaces"},
		{"BRG-2 bytes behind the last field", nil, func(p []byte) []byte { return append(p, 0) }, token.ErrMalformed, "malformed token: bytes behind the last field"},
		{"BRG-2 a last field that is cut off", nil, func(p []byte) []byte { return p[:len(p)-1] }, token.ErrMalformed, "malformed token: node is cut off"},
		{"BRG-2 an unknown flag", nil, func(p []byte) []byte { p[104] |= 2; return p }, token.ErrMalformed, "malformed token: an unknown flag"},
		{"BRG-2 a time beyond all years", nil, func(p []byte) []byte { p[88] = 0xff; return p }, token.ErrMalformed, "malformed token: a time after the year 9999"},
	} {
		t.Run(c.name, func(t *testing.T) {
			value := sample()
			if c.value != nil {
				c.value(&value)
			}
			payload := token.Payload(value, key.Public().ID())
			if c.payload != nil {
				payload = c.payload(payload)
			}
			text := token.SignPayload(payload, key)
			if got, err := (token.Keys{key.Public()}).Verify(text, at, 0); !errors.Is(err, c.want) || err.Error() != c.says || got != (token.Token{}) {
				t.Fatalf("Verify(…) = %+v, %v, want %s", got, err, c.says)
			}
			if got, _, err := token.Parse(text); !errors.Is(err, c.want) || err.Error() != c.says || got != (token.Token{}) {
				t.Fatalf("Parse(…) = %+v, %v, want %s", got, err, c.says)
			}
		})
	}
}
