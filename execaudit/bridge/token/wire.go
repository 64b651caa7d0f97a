package token

import (
	"crypto/ed25519"
	"fmt"
	"strings"
	"time"
)

// head is what the text of a token begins with, and what stands before the payload in what is signed.
const head = Prefix + "1:"

// maxVersion is how long the text of a version can be.
const maxVersion = 8

// Sign returns the token's text. Its error is a *Fault: of ErrField for a value that no token may have, of ErrKey for
// the zero Key.
func (k Key) Sign(t Token) (string, error) {
	if k.hidden == nil {
		return "", &Fault{Err: ErrKey, Detail: "there is none to sign with"}
	}
	if err := t.validate(); err != nil {
		return "", err
	}
	message := make([]byte, 0, len(head)+maxRawBytes)
	message = t.appendPayload(append(message, head...), k.secret().id)
	signed := append(message, ed25519.Sign(k.secret().private, message)...)
	return string(encoding.AppendEncode([]byte(head), signed[len(head):])), nil
}

// Parse returns what a text says and the ID of the key that it names, of which nothing is verified. Its error is a
// *Fault of ErrMalformed, ErrVersion or ErrField.
func Parse(text string) (Token, KeyID, error) {
	raw, err := decode(text)
	if err != nil {
		return Token{}, KeyID{}, err
	}
	payload := raw[:len(raw)-ed25519.SignatureSize]
	t, err := parsePayload(payload)
	if err != nil {
		return Token{}, KeyID{}, err
	}
	return t, KeyID(payload), nil
}

// Verify returns what a text says if one of the keys signed it and now lies in its time, to which skew is added on both
// sides; a negative skew counts as 0. It does not look at pod, container, node, command and nonce, which are the
// caller's to compare.
//
// Its error is a *Fault, of the first in this order: ErrMalformed and ErrVersion for its outer form, ErrUnknownKey,
// ErrSignature, ErrMalformed and ErrField for what is signed, ErrNotYet, ErrExpired. So what is not signed is told
// nothing of what a token must say, nor of the clock.
func (s Keys) Verify(text string, now time.Time, skew time.Duration) (Token, error) {
	raw, err := decode(text)
	if err != nil {
		return Token{}, err
	}
	border := len(raw) - ed25519.SignatureSize
	payload, signature := raw[:border], raw[border:]
	if err := s.check(payload, signature); err != nil {
		return Token{}, err
	}
	t, err := parsePayload(payload)
	if err != nil {
		return Token{}, err
	}
	skew = max(skew, 0)
	if now.Before(t.NotBefore.Add(-skew)) {
		return Token{}, &Fault{Err: ErrNotYet, By: t.NotBefore.Sub(now)}
	}
	if !now.Before(t.Expiry.Add(skew)) {
		return Token{}, &Fault{Err: ErrExpired, By: now.Sub(t.Expiry)}
	}
	return t, nil
}

// check verifies a payload's signature by the key that it names.
func (s Keys) check(payload, signature []byte) error {
	id := KeyID(payload)
	fault := &Fault{Err: ErrUnknownKey, Key: id}
	message := append([]byte(head), payload...)
	for _, key := range s {
		if key.ID() != id || key.weak() {
			continue
		}
		if ed25519.Verify(key[:], message, signature) {
			return nil
		}
		fault.Err = ErrSignature
	}
	return fault
}

// decode returns payload and signature, of which at least the fixed fields are there.
func decode(text string) ([]byte, error) {
	if len(text) > MaxBytes {
		return nil, &Fault{Err: ErrMalformed, Detail: fmt.Sprintf("longer than %d bytes", MaxBytes)}
	}
	rest, ok := strings.CutPrefix(text, Prefix)
	if !ok {
		return nil, &Fault{Err: ErrMalformed, Detail: "does not begin with " + Prefix}
	}
	version, encoded, ok := strings.Cut(rest, ":")
	if !ok || version == "" || len(version) > maxVersion || strings.Trim(version, "0123456789") != "" {
		return nil, &Fault{Err: ErrMalformed, Detail: "no version"}
	}
	if version != "1" {
		return nil, &Fault{Err: ErrVersion, Detail: fmt.Sprintf("%s, where only 1 is known", version)}
	}
	if strings.ContainsAny(encoded, "\r\n") { // which the decoder passes over
		return nil, &Fault{Err: ErrMalformed, Detail: "not base64url without padding"}
	}
	raw, err := encoding.DecodeString(encoded)
	if err != nil {
		return nil, &Fault{Err: ErrMalformed, Detail: "not base64url without padding"}
	}
	if len(raw) < minRawBytes {
		return nil, &Fault{Err: ErrMalformed, Detail: "too short"}
	}
	return raw, nil
}
