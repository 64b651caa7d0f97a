package token_test

import (
	"crypto/ed25519"
	"errors"
	"fmt"
	"testing"

	"github.com/lanyard-dev/lanyard/execaudit/bridge/token"
)

func TestWeakKeys(t *testing.T) {
	// The neutral element and 0: a signature by nobody, which holds for any message under a key of order 1, and for
	// every eighth or so under one of order 8.
	signature := append([]byte{1}, make([]byte, ed25519.SignatureSize-1)...)
	for _, point := range token.WeakPoints() {
		for _, sign := range []byte{0, 0x80} {
			key := point
			key[31] |= sign
			t.Run(fmt.Sprintf("BRG-4 nobody's signature is refused under %x", key), func(t *testing.T) {
				forged := false
				for i := range 1000 {
					value := sample()
					value.Nonce = [16]byte{1, byte(i), byte(i >> 8)}
					text := token.Encode(value, key.ID(), signature)
					message := token.Message(text)
					if !ed25519.Verify(key[:], message, signature) {
						continue
					}
					forged = true
					if got, err := (token.Keys{key}).Verify(text, at, 0); !errors.Is(err, token.ErrUnknownKey) {
						t.Fatalf("Verify(…) = %+v, %v", got, err)
					}
				}
				if !forged && sign == 0 {
					t.Error("Ed25519 takes no such signature: not a weak key")
				}
				if got, err := token.ParsePublicKey(key.String()); !errors.Is(err, token.ErrKey) {
					t.Errorf("ParsePublicKey(…) = %v, %v", got, err)
				}
			})
		}
	}
}
