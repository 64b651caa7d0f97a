package admission

import (
	"slices"

	"github.com/lanyard-dev/lanyard/execaudit/bridge/token"
)

// Signer holds the private keys of the webhook. It is immutable; the zero value signs nothing.
type Signer struct {
	keys   []token.Key
	public token.Keys
	ids    []string
}

// NewSigner returns the signer of the keys, the one that it prefers first: during a rotation the newest, and behind it
// the one before, for nodes that do not have the newest yet.
func NewSigner(keys ...token.Key) Signer {
	s := Signer{keys: slices.Clone(keys)}
	for _, key := range keys {
		s.public = append(s.public, key.Public())
		s.ids = append(s.ids, key.Public().ID().String())
	}
	return s
}

// Public returns the public keys, in order.
func (s Signer) Public() token.Keys { return slices.Clone(s.public) }

// key returns the key with the ID, which the signer has.
func (s Signer) key(id string) token.Key { return s.keys[slices.Index(s.ids, id)] }
