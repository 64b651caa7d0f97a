package admission

import (
	"slices"

	"github.com/lanyard-dev/lanyard/execaudit/bridge/token"
)

// Signer holds the private keys of the webhook. It is immutable; the zero value signs nothing.
type Signer struct {
	keys   []token.Key
	public token.Keys
	// ids are those of all keys, of which the first signing ones sign new tokens.
	ids     []string
	signing int
}

// NewSigner returns the signer of the keys, the one that it prefers first: during a rotation the newest, and behind it
// the one before, for nodes that do not have the newest yet.
func NewSigner(keys ...token.Key) Signer {
	s := Signer{signing: len(keys)}
	return s.Knowing(keys...)
}

// Knowing returns the signer that also knows tokens of these keys, and makes none of them: another replica of the
// webhook may have begun to.
func (s Signer) Knowing(keys ...token.Key) Signer {
	s.keys = append(slices.Clone(s.keys), keys...)
	s.public, s.ids = slices.Clone(s.public), slices.Clone(s.ids)
	for _, key := range keys {
		s.public = append(s.public, key.Public())
		s.ids = append(s.ids, key.Public().ID().String())
	}
	return s
}

// may returns the IDs of the keys that sign new tokens.
func (s Signer) may() []string { return s.ids[:s.signing] }

// Public returns the public keys, in order.
func (s Signer) Public() token.Keys { return slices.Clone(s.public) }

// key returns the key with the ID, which the signer has.
func (s Signer) key(id string) token.Key { return s.keys[slices.Index(s.ids, id)] }
