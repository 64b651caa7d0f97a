package token

import (
	"crypto/ed25519"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"io"
	"log/slog"
	"strings"
)

// What the texts of keys begin with.
const (
	keyPrefix    = "lanyard-exec-key:1:"
	publicPrefix = "lanyard-exec-public:1:"
)

// encoding has one text for each value, and none for others.
var encoding = base64.RawURLEncoding.Strict()

// Key is a private key: who has it can make tokens, so it is the webhook's alone. It prints as [redacted]; Reveal shows
// it. The zero value is no key.
type Key struct {
	// A pointer to a pointer, which no formatting follows: in somebody's unexported field fmt calls no method, and shows
	// what one pointer leads to under a verb that does not fit it, such as %s.
	hidden **secret
}

type secret struct {
	private   ed25519.PrivateKey
	public    PublicKey
	id        KeyID
	requester [sha256.Size]byte // the key of Requester's tags
}

// NewKey returns a key from the system's source of random numbers.
func NewKey() Key {
	seed := make([]byte, ed25519.SeedSize)
	_, _ = rand.Read(seed) // which never fails
	return newKey(seed)
}

func newKey(seed []byte) Key {
	private := ed25519.NewKeyFromSeed(seed)
	s := &secret{private: private, public: PublicKey(private.Public().(ed25519.PublicKey))}
	s.id = s.public.ID()
	h := hmac.New(sha256.New, seed)
	h.Write([]byte("lanyard exec requester 1"))
	h.Sum(s.requester[:0])
	return Key{&s}
}

// secret returns what the key is, nil for the zero Key.
func (k Key) secret() *secret {
	if k.hidden == nil {
		return nil
	}
	return *k.hidden
}

// ParseKey returns the key of a text that Reveal returned, with space around it or not. Its error is a *Fault of
// ErrKey, which repeats nothing of it.
func ParseKey(text string) (Key, error) {
	seed, ok := parseKeyText(strings.TrimSpace(text), keyPrefix)
	if !ok {
		return Key{}, &Fault{Err: ErrKey, Detail: "not " + keyPrefix + " and 43 characters of base64url"}
	}
	return newKey(seed), nil
}

// Reveal returns the key as one word of text, "" for the zero Key. It is a secret.
func (k Key) Reveal() string {
	if k.hidden == nil {
		return ""
	}
	return keyPrefix + encoding.EncodeToString(k.secret().private.Seed())
}

// Public returns the key that nodes have, zero for the zero Key.
func (k Key) Public() PublicKey {
	if k.hidden == nil {
		return PublicKey{}
	}
	return k.secret().public
}

const redacted = "[redacted]"

// Format prints "[redacted]" for every verb.
func (k Key) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, redacted) }

// LogValue returns "[redacted]".
func (k Key) LogValue() slog.Value { return slog.StringValue(redacted) }

// MarshalJSON returns "[redacted]".
func (k Key) MarshalJSON() ([]byte, error) { return []byte(`"` + redacted + `"`), nil }

// PublicKey verifies tokens and can make none.
type PublicKey [ed25519.PublicKeySize]byte

// ParsePublicKey returns the key of a text that String returned, with space around it or not. Its error is a *Fault
// of ErrKey: for another text, of which a private key is not repeated, and for the few keys, such as all zeros, under
// which anybody can sign.
func ParsePublicKey(text string) (PublicKey, error) {
	text = strings.TrimSpace(text)
	raw, ok := parseKeyText(text, publicPrefix)
	switch {
	case ok && PublicKey(raw).weak():
		return PublicKey{}, &Fault{Err: ErrKey, Detail: "a key under which anybody can sign"}
	case ok:
		return PublicKey(raw), nil
	case strings.HasPrefix(text, keyPrefix):
		return PublicKey{}, &Fault{Err: ErrKey, Detail: "a private key, which belongs to the webhook alone"}
	default:
		return PublicKey{}, &Fault{Err: ErrKey, Detail: "not " + publicPrefix + " and 43 characters of base64url"}
	}
}

// String returns the key as one word of text.
func (p PublicKey) String() string { return publicPrefix + encoding.EncodeToString(p[:]) }

// ID returns the key's ID.
func (p PublicKey) ID() KeyID {
	sum := sha256.Sum256(p[:])
	return KeyID(sum[:8])
}

// KeyID is the name of a key in tokens and messages: the first bytes of its public part's SHA-256.
type KeyID [8]byte

// String returns the ID as 16 hexadecimal digits.
func (id KeyID) String() string { return hex.EncodeToString(id[:]) }

func parseKeyText(text, prefix string) ([]byte, bool) {
	encoded, ok := strings.CutPrefix(text, prefix)
	if !ok || len(encoded) != encoding.EncodedLen(32) || strings.ContainsAny(encoded, "\r\n") {
		return nil, false
	}
	raw, err := encoding.DecodeString(encoded)
	return raw, err == nil
}
