package journal

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
)

// Key is a verification key: the secret from which all keys of a journal's seals come. Who has it can check every
// seal, and make every one, so it is kept off the host. The host has a key file, made by Install, whose key evolves.
// It prints as [redacted]; Reveal shows it.
type Key struct {
	// A pointer to a pointer, which no formatting follows: in somebody's unexported field fmt calls no method, and shows
	// what one pointer leads to under a verb that does not fit it, such as %s.
	hidden **[sha256.Size]byte
}

// ErrBadKey: a text is not a verification key.
var ErrBadKey = errors.New("not a journal verification key")

const keyPrefix = "journal-verify-1:"

// NewKey returns a key from the system's source of random numbers.
func NewKey() Key {
	secret := new([sha256.Size]byte)
	_, _ = rand.Read(secret[:]) // which never fails
	return Key{&secret}
}

// ParseKey returns the key of a text that Reveal returned, with space around it or not. Its error is ErrBadKey, which
// repeats nothing of it.
func ParseKey(text string) (Key, error) {
	encoded, ok := strings.CutPrefix(strings.TrimSpace(text), keyPrefix)
	raw, err := base64.RawURLEncoding.Strict().DecodeString(encoded)
	if !ok || err != nil || len(raw) != sha256.Size {
		return Key{}, ErrBadKey
	}
	secret := (*[sha256.Size]byte)(raw)
	return Key{&secret}, nil
}

// Reveal returns the key as one word of text, "" for the zero Key. It is a secret.
func (k Key) Reveal() string {
	if k.hidden == nil {
		return ""
	}
	return keyPrefix + base64.RawURLEncoding.EncodeToString((*k.hidden)[:])
}

// ID returns the name that seals have for the key, 11 characters that say nothing of the secret; "" for the zero Key.
func (k Key) ID() string {
	if k.hidden == nil {
		return ""
	}
	id := derive("id", *k.hidden)
	return base64.RawURLEncoding.EncodeToString(id[:8])
}

const redacted = "[redacted]"

// Format prints "[redacted]" for every verb.
func (k Key) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, redacted) }

// LogValue returns "[redacted]".
func (k Key) LogValue() slog.Value { return slog.StringValue(redacted) }

// MarshalJSON returns "[redacted]".
func (k Key) MarshalJSON() ([]byte, error) { return []byte(`"` + redacted + `"`), nil }

// generation is how many epochs a seed serves. Without seeds, the key of a far epoch could only be had by going
// through all before it.
const generation = 1 << 20

// maxEpoch bounds what a verifier computes for the epoch that a line names: about a second. At a thousand seals a
// second it lasts for thirty years.
const maxEpoch = 1<<40 - 1

// ratchet is the key of one epoch and what those of later epochs come from. There is no way back: of the keys and
// seeds before it has nothing.
type ratchet struct {
	id    string
	epoch uint64
	key   [sha256.Size]byte
	next  [sha256.Size]byte // seed of the next generation
}

func (k Key) ratchet() *ratchet {
	r := &ratchet{id: k.ID()}
	seed := derive("seed", *k.hidden)
	r.sow(&seed)
	return r
}

// sow begins the generation of a seed, which it erases.
func (r *ratchet) sow(seed *[sha256.Size]byte) {
	r.key, r.next = derive("first", seed), derive("seed", seed)
	clear(seed[:])
}

// advance goes to the next epoch.
func (r *ratchet) advance() {
	r.epoch++
	if r.epoch%generation == 0 {
		seed := r.next
		r.sow(&seed)
		return
	}
	r.key = derive("next", &r.key)
}

// seek goes to a later epoch and reports whether it can: not back, and not over maxEpoch.
func (r *ratchet) seek(epoch uint64) bool {
	if epoch < r.epoch || epoch > maxEpoch {
		return false
	}
	for r.epoch/generation < epoch/generation {
		r.epoch = (r.epoch/generation+1)*generation - 1
		r.advance()
	}
	for r.epoch < epoch {
		r.advance()
	}
	return true
}

func (r *ratchet) mac(before *digest, head []byte) (d digest) {
	m := hmac.New(sha256.New, r.key[:])
	m.Write(before[:])
	m.Write(head)
	m.Sum(d[:0])
	return d
}

func (r *ratchet) check(before *digest, head []byte, mac digest) bool {
	want := r.mac(before, head)
	return hmac.Equal(want[:], mac[:])
}

// derive is the one-way function; what names what the result is for.
func derive(what string, from *[sha256.Size]byte) [sha256.Size]byte {
	var text [48 + sha256.Size]byte
	n := copy(text[:], "lanyard execaudit/journal ")
	n += copy(text[n:], what)
	text[n] = 0
	n += 1 + copy(text[n+1:], from[:])
	out := sha256.Sum256(text[:n])
	clear(text[:])
	return out
}
