package keys

import (
	"errors"
	"slices"
	"time"

	"github.com/lanyard-dev/lanyard/execaudit/bridge/token"
)

// pruneAfter is how long after a key was retired its last token may still be under way: a Secret reaches the webhook
// within some two minutes, and a token lives for token.MaxLifetime at most.
const pruneAfter = token.MaxLifetime + 5*time.Minute

var (
	errRotating        = errors.New("there are two keys already: retire the old one first")
	errNothingToRetire = errors.New("there is one key, and no old one to retire")
)

// DefaultAfter is when the webhook begins to sign with a new key: by then each of its replicas has it. One that has not
// would refuse what another one signed.
const DefaultAfter = 5 * time.Minute

// rotated returns the keys with a new one before them.
func rotated(keys []Private, from time.Time) ([]Private, error) {
	if len(keys) >= MaxKeys {
		return nil, errRotating
	}
	return slices.Insert(slices.Clone(keys), 0, Private{Key: token.NewKey(), From: from}), nil
}

// merged returns the public keys with those that they lack behind them. It takes none away: a node may have tokens of
// a key that the webhook has no more.
func merged(has token.Keys, wanted token.Keys) token.Keys {
	out := slices.Clone(has)
	for _, key := range wanted {
		if !slices.Contains(out, key) {
			out = append(out, key)
		}
	}
	return out
}
