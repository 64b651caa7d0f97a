package provider

import (
	"context"
	"crypto/sha256"
	"time"

	"github.com/lanyard-dev/lanyard/credprovider"
	"github.com/lanyard-dev/lanyard/credprovider/plugin"
	"github.com/lanyard-dev/lanyard/internal/flight"
	"github.com/lanyard-dev/lanyard/redact"
)

// member is one provider with its cache.
type member struct {
	pool    *Pool
	config  credprovider.Provider
	runner  Runner
	answers *expiring[credprovider.CacheKey, *credprovider.Keyring]
	flights *flight.Group[flightKey, outcome]
	turns   chan struct{} // holds one for each run under way
}

// subject is as whom a provider is asked. The zero value is nobody: no token is sent.
type subject struct {
	account     *credprovider.AccountRef
	annotations map[string]string
	token       redact.Text
	key         string // the account's part of cache keys
}

// flightKey names runs that give one answer. With CacheByServiceAccount and without a token it stands for all pods of
// the account.
type flightKey struct {
	image, account string
	token          [sha256.Size]byte
}

// outcome is an answer, the token it was got with, and whether it is kept.
type outcome struct {
	keyring *credprovider.Keyring
	token   redact.Text
	kept    bool
}

// answer returns the provider's credentials for image, nil when it is skipped.
func (m *member) answer(ctx context.Context, image string, pod Pod) (*credprovider.Keyring, error) {
	if m.config.TokenAttributes == nil || (pod.ServiceAccount == "" && !*m.config.TokenAttributes.RequireServiceAccount) {
		return m.answerFor(ctx, image, pod, subject{})
	}
	if pod.ServiceAccount == "" {
		return nil, nil
	}
	who, err := m.identify(ctx, image, pod)
	if err != nil {
		return nil, err
	}
	return m.answerFor(ctx, image, pod, who)
}

// identify fetches the account and, when the cache key needs it, the token. With CacheByServiceAccount a cached answer
// then costs no token.
func (m *member) identify(ctx context.Context, image string, pod Pod) (subject, error) {
	account, err := m.pool.accounts.ServiceAccount(ctx, pod.Namespace, pod.ServiceAccount)
	if err != nil {
		return subject{}, m.fail(image, StageAccount, credprovider.AccountRef{Namespace: pod.Namespace, Name: pod.ServiceAccount}, err)
	}
	ref := account.Ref()
	if ref.Namespace != pod.Namespace || ref.Name != pod.ServiceAccount || ref.UID == "" {
		return subject{}, m.fail(image, StageAccount, credprovider.AccountRef{Namespace: pod.Namespace, Name: pod.ServiceAccount}, ErrOtherAccount)
	}
	annotations, err := credprovider.SelectAnnotations(account, m.config.TokenAttributes)
	if err != nil {
		return subject{}, m.fail(image, StageAnnotations, ref, err)
	}
	who := subject{account: &ref, annotations: annotations}
	if m.config.TokenAttributes.CacheType == credprovider.CacheByToken {
		if who, err = m.withToken(ctx, image, pod, who); err != nil {
			return subject{}, err
		}
	}
	who.key, err = credprovider.AccountKey(ref, annotations, m.config.TokenAttributes.CacheType, who.token)
	if err != nil {
		return subject{}, m.fail(image, StageKey, ref, err)
	}
	return who, nil
}

// withToken returns who with a token, unless it is nobody or has one.
func (m *member) withToken(ctx context.Context, image string, pod Pod, who subject) (subject, error) {
	if who.account == nil || !who.token.IsEmpty() {
		return who, nil
	}
	token, err := m.pool.tokens.Token(ctx, TokenRequest{
		Account: *who.account, Audience: m.config.TokenAttributes.ServiceAccountTokenAudience, PodName: pod.Name, PodUID: pod.UID,
	})
	if err != nil {
		return subject{}, m.fail(image, StageToken, *who.account, err)
	}
	who.token = token.Value
	return who, nil
}

func (m *member) answerFor(ctx context.Context, image string, pod Pod, who subject) (*credprovider.Keyring, error) {
	if keyring, ok := m.cached(image, who.key); ok {
		return keyring, nil
	}
	key := flightKey{image: image, account: who.key}
	shared, began, err := m.flights.Do(ctx, key, flight.Options{}, func(run *flight.Run) (outcome, error) { return m.run(run, image, pod, who) })
	if began || shared.kept || who.account == nil || ctx.Err() != nil {
		return shared.keyring, err
	}
	return m.answerAlone(ctx, key, shared, err, pod, who)
}

// answerAlone goes on for a caller that waited for the run of another pod of its account. With CacheByServiceAccount
// they share an answer that is kept; one that is not, or a failure, is shared with the same token only. So the caller
// asks with its own.
func (m *member) answerAlone(ctx context.Context, key flightKey, shared outcome, sharedErr error, pod Pod, who subject) (*credprovider.Keyring, error) {
	who, err := m.withToken(ctx, key.image, pod, who)
	if err != nil {
		return nil, err
	}
	if shared.token.Equal(who.token) {
		return shared.keyring, sharedErr
	}
	key.token = sha256.Sum256([]byte(who.token.Reveal()))
	own, _, err := m.flights.Do(ctx, key, flight.Options{}, func(run *flight.Run) (outcome, error) { return m.run(run, key.image, pod, who) })
	return own.keyring, err
}

// run looks into the cache again: between the first look and this run another one may have ended. The token is got as
// late as this, so that callers who share the answer cost none.
func (m *member) run(ctx context.Context, image string, pod Pod, who subject) (outcome, error) {
	if keyring, ok := m.cached(image, who.key); ok {
		return outcome{keyring: keyring, kept: true}, nil
	}
	who, err := m.withToken(ctx, image, pod, who)
	if err != nil {
		return outcome{}, err
	}
	response, err := m.measured(ctx, credprovider.Request{
		APIVersion: m.config.APIVersion, Image: image, ServiceAccountToken: who.token, ServiceAccountAnnotations: who.annotations,
	})
	if err != nil {
		return outcome{token: who.token}, err
	}
	base, err := credprovider.BaseKey(response.CacheKeyType, image)
	if err != nil {
		return outcome{token: who.token}, err
	}
	keyring := credprovider.NewKeyring(m.config.Name, who.account, response.Auth)
	kept := m.keep(credprovider.CacheKey{Base: base, Account: who.key}, keyring, response.CacheDuration)
	return outcome{keyring: keyring, token: who.token, kept: kept}, nil
}

// measured waits for its turn, runs the plugin and checks the answer, because a runner that is not a *plugin.Plugin may
// not.
func (m *member) measured(ctx context.Context, request credprovider.Request) (credprovider.Response, error) {
	select {
	case m.turns <- struct{}{}:
	case <-ctx.Done():
		return credprovider.Response{}, context.Cause(ctx)
	}
	defer func() { <-m.turns }()
	start := m.pool.now()
	response, err := m.runner.Run(ctx, request)
	m.pool.recorder.PluginDuration(m.config.Name, m.pool.now().Sub(start))
	if err == nil {
		err = plugin.Check(m.config, request, response, m.pool.maxAnswer)
	} else {
		err = scrub(err, request.ServiceAccountToken)
	}
	if plugin.RunFailed(err) {
		m.pool.recorder.PluginError(m.config.Name)
	}
	return response, err
}

// keep reports whether the answer is good for longer than this pull.
func (m *member) keep(key credprovider.CacheKey, keyring *credprovider.Keyring, duration *credprovider.Duration) bool {
	if duration == nil {
		duration = m.config.DefaultCacheDuration
	}
	if *duration <= 0 {
		return false
	}
	now := m.pool.now()
	m.answers.put(key, keyring, now.Add(time.Duration(*duration)), now)
	return true
}

// cachedWithoutAccount is the part of a lookup that needs no account and cannot wait.
func (m *member) cachedWithoutAccount(image string) (*credprovider.Keyring, bool) {
	if m.config.TokenAttributes != nil {
		return nil, false
	}
	return m.cached(image, "")
}

// cached looks for an answer for the image, then for its registry, then for all.
func (m *member) cached(image, account string) (*credprovider.Keyring, bool) {
	now := m.pool.now()
	for _, keyType := range [...]credprovider.CacheKeyType{credprovider.KeyImage, credprovider.KeyRegistry, credprovider.KeyGlobal} {
		base, err := credprovider.BaseKey(keyType, image)
		if err != nil {
			continue
		}
		if keyring, ok := m.answers.get(credprovider.CacheKey{Base: base, Account: account}, now); ok {
			return keyring, true
		}
	}
	return nil, false
}

func (m *member) fail(image string, stage Stage, account credprovider.AccountRef, err error) error {
	return &Error{
		Provider: m.config.Name, Image: image, Stage: stage, Account: account,
		Audience: m.config.TokenAttributes.ServiceAccountTokenAudience, Err: err,
	}
}
