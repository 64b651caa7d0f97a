package token

import (
	"fmt"
	"slices"
	"strings"
)

// Keys are the public keys that a node takes tokens of. Two stand beside each other while keys are rotated; a retired
// one is one that is not in the list any more.
type Keys []PublicKey

// MaxKeys is how many keys a list of keys may have.
const MaxKeys = 64

// ParseKeys returns the keys of a text with one key a line, in its order, and never an empty list. Blank lines, lines
// that begin with # and space around a line are passed over. Its error is a *Fault of ErrKey with the line's number:
// for a line that is not a public key, one that is there twice, more than MaxKeys, or none at all.
func ParseKeys(text string) (Keys, error) {
	var keys Keys
	n := 0
	for line := range strings.Lines(text) {
		n++
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		key, err := ParsePublicKey(line)
		if err != nil {
			err.(*Fault).Line = n
			return nil, err
		}
		if slices.Contains(keys, key) {
			return nil, &Fault{Err: ErrKey, Line: n, Detail: "duplicate key " + key.ID().String()}
		}
		if len(keys) == MaxKeys {
			return nil, &Fault{Err: ErrKey, Line: n, Detail: fmt.Sprintf("more than %d keys", MaxKeys)}
		}
		keys = append(keys, key)
	}
	if len(keys) == 0 {
		return nil, &Fault{Err: ErrKey, Detail: "the list has no key"}
	}
	return keys, nil
}

// Text returns the list as ParseKeys takes it, each key after a comment with its ID.
func (s Keys) Text() string {
	var out strings.Builder
	for _, key := range s {
		fmt.Fprintf(&out, "# %s\n%s\n", key.ID(), key)
	}
	return out.String()
}

// IDs returns the keys' IDs, in the list's order.
func (s Keys) IDs() []KeyID {
	ids := make([]KeyID, len(s))
	for i, key := range s {
		ids[i] = key.ID()
	}
	return ids
}
