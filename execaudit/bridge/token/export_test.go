package token

import "crypto/ed25519"

// Encode returns the text of a token with any signature: the model of the format, for what Parse takes.
func Encode(t Token, id KeyID, signature []byte) string {
	return head + encoding.EncodeToString(append(Payload(t, id), signature...))
}

// Payload returns a token's payload, valid or not.
func Payload(t Token, id KeyID) []byte { return t.appendPayload(nil, id) }

// SignPayload returns the text of any payload, signed.
func SignPayload(payload []byte, key Key) string {
	signature := ed25519.Sign(key.secret().private, append([]byte(head), payload...))
	return head + encoding.EncodeToString(append(payload, signature...))
}

// Message returns what the signature of a text is over.
func Message(text string) []byte {
	raw, err := decode(text)
	if err != nil {
		return nil
	}
	return append([]byte(head), raw[:len(raw)-ed25519.SignatureSize]...)
}

// WeakPoints are the keys under which anybody can sign.
func WeakPoints() []PublicKey { return weakPoints[:] }
