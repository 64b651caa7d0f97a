package provider

import (
	"context"
	"time"
)

const (
	// DefaultMaxTokens is how many tokens a [TokenCache] keeps when nothing else is said.
	DefaultMaxTokens = 4096
	// MaxTokenAge is the age at which a token is replaced however long it would be valid.
	MaxTokenAge = 24 * time.Hour
	// a token is replaced when this part of its life is over
	refreshNumerator, refreshDenominator = 4, 5
)

// TokenCache is a [TokenSource] that keeps the tokens of another: by pod UID, service account (namespace, name and UID) and
// audience. It is safe for concurrent use.
//
// A token is replaced after 80% of its life or 24 hours; when the source then fails and the token is still valid, it is
// returned once more. Equal requests at one time ask the source once.
type TokenCache struct {
	source  TokenSource
	clock   Clock
	tokens  *expiring[tokenKey, keptToken]
	flights flights[tokenKey, Token]
}

type tokenKey struct{ namespace, name, uid, audience, pod string }

type keptToken struct {
	Token
	refresh time.Time
}

// NewTokenCache returns an empty cache in front of source. A nil clock is the system's; a limit of zero or less is
// DefaultMaxTokens.
func NewTokenCache(source TokenSource, clock Clock, limit int) *TokenCache {
	if clock == nil {
		clock = systemClock{}
	}
	return &TokenCache{source: source, clock: clock, tokens: newExpiring[tokenKey, keptToken](orDefault(limit, DefaultMaxTokens))}
}

// Token returns a token that is valid now, from the cache or the source. Errors are the source's, the context's,
// and ErrEmptyToken for a source that returns none.
func (c *TokenCache) Token(ctx context.Context, request TokenRequest) (Token, error) {
	key := tokenKey{request.Account.Namespace, request.Account.Name, request.Account.UID, request.Audience, request.PodUID}
	kept, ok := c.tokens.get(key, c.clock.Now())
	if ok && c.clock.Now().Before(kept.refresh) {
		return kept.Token, nil
	}
	token, _, err := c.flights.do(ctx, key, func(ctx context.Context) (Token, error) { return c.mint(ctx, key, request) })
	if err != nil && ok && ctx.Err() == nil {
		return kept.Token, nil
	}
	return token, err
}

// mint looks into the cache again: between the first look and this run another one may have ended.
func (c *TokenCache) mint(ctx context.Context, key tokenKey, request TokenRequest) (Token, error) {
	now := c.clock.Now()
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
		refresh := now.Add(min(life/refreshDenominator*refreshNumerator, MaxTokenAge))
		c.tokens.put(key, keptToken{token, refresh}, token.Expires, now)
	}
	return token, nil
}

// Forget drops the tokens of a pod that is gone.
func (c *TokenCache) Forget(podUID string) {
	c.tokens.drop(func(key tokenKey) bool { return key.pod == podUID })
}

// Len returns the number of tokens that are kept, those that have expired since included.
func (c *TokenCache) Len() int { return c.tokens.len() }
