package provider

import (
	"context"
	"time"

	"github.com/lanyard-dev/lanyard/internal/flight"
)

const (
	// DefaultMaxTokens is how many tokens a pool keeps by default.
	DefaultMaxTokens = 4096
	// maxTokenAge is the age at which a token is replaced however long it would be valid.
	maxTokenAge = 24 * time.Hour
	// a token is replaced when this part of its life is over
	refreshNumerator, refreshDenominator = 4, 5
)

// tokenCache is a [TokenSource] that keeps the tokens of another: by pod UID, service account (namespace, name and UID)
// and audience. It is safe for concurrent use.
//
// A token is replaced after 80% of its life or 24 hours; when the source then fails and the token is still valid, it is
// returned once more. Equal requests at one time ask the source once.
type tokenCache struct {
	source  TokenSource
	now     func() time.Time
	tokens  *expiring[tokenKey, keptToken]
	flights *flight.Group[tokenKey, Token] // a pointer, which fmt does not follow into a run under way
}

type tokenKey struct{ namespace, name, uid, audience, pod string }

type keptToken struct {
	Token
	refresh time.Time
}

// newTokenCache returns an empty cache in front of source. A limit of zero or less is DefaultMaxTokens.
func newTokenCache(source TokenSource, now func() time.Time, limit int) *tokenCache {
	return &tokenCache{
		source: source, now: now, tokens: newExpiring[tokenKey, keptToken](orDefault(limit, DefaultMaxTokens)), flights: new(flight.Group[tokenKey, Token]),
	}
}

// Token returns a token that is valid now, from the cache or the source. Errors are the source's, the context's,
// and ErrEmptyToken for a source that returns none.
func (c *tokenCache) Token(ctx context.Context, request TokenRequest) (Token, error) {
	key := tokenKey{request.Account.Namespace, request.Account.Name, request.Account.UID, request.Audience, request.PodUID}
	kept, ok := c.tokens.get(key, c.now())
	if ok && c.now().Before(kept.refresh) {
		return kept.Token, nil
	}
	token, _, err := c.flights.Do(ctx, key, flight.Options{}, func(run *flight.Run) (Token, error) { return c.mint(run, key, request) })
	if err != nil && ok && ctx.Err() == nil {
		return kept.Token, nil
	}
	return token, err
}

// mint looks into the cache again: between the first look and this run another one may have ended.
func (c *tokenCache) mint(ctx context.Context, key tokenKey, request TokenRequest) (Token, error) {
	now := c.now()
	if kept, ok := c.tokens.get(key, now); ok && now.Before(kept.refresh) {
		return kept.Token, nil
	}
	token, err := c.source.Token(ctx, request)
	if err == nil && token.Value.IsEmpty() {
		err = ErrEmptyToken
	}
	if err != nil {
		return Token{}, err
	}
	if life := token.Expires.Sub(now); life > 0 {
		refresh := now.Add(min(life/refreshDenominator*refreshNumerator, maxTokenAge))
		c.tokens.put(key, keptToken{token, refresh}, token.Expires, now)
	}
	return token, nil
}

// Forget drops the tokens of a pod that is gone.
func (c *tokenCache) Forget(podUID string) {
	c.tokens.drop(func(key tokenKey) bool { return key.pod == podUID })
}
