package token

import (
	"crypto/hmac"
	"crypto/sha256"
	"maps"
	"slices"

	"github.com/lanyard-dev/lanyard/execaudit/bridge"
)

// User is who asked for an exec, as the API server says it in a review.
type User struct {
	// Name and UID are the user's.
	Name, UID string
	// Groups in any order.
	Groups []string
	// Extra is further information by key, its values in any order.
	Extra map[string][]string
}

// Requester returns the tag of a user in a session: the same for the same two, another for any others, and nothing that
// tells who it is, nor whether two sessions are of one user, without the private key. A webhook that is called again for
// one request knows its own token by it; for a token that another user has got hold of it computes another tag. It is
// zero for the zero Key.
func (k Key) Requester(session bridge.SessionID, user User) [16]byte {
	if k.hidden == nil {
		return [16]byte{}
	}
	h := hmac.New(sha256.New, k.secret().requester[:])
	h.Write(session[:])
	var buf []byte
	texts := func(list []string) {
		writeCount(h, len(list))
		for _, text := range list {
			buf = writeText(h, text, buf)
		}
	}
	texts([]string{user.Name, user.UID})
	texts(slices.Sorted(slices.Values(user.Groups)))
	keys := slices.Sorted(maps.Keys(user.Extra))
	texts(keys)
	for _, key := range keys {
		texts(slices.Sorted(slices.Values(user.Extra[key])))
	}
	return [16]byte(h.Sum(nil))
}
