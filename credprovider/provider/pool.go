package provider

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/lanyard-dev/lanyard/credprovider"
	"github.com/lanyard-dev/lanyard/credprovider/configfile"
	"github.com/lanyard-dev/lanyard/credprovider/plugin"
	"github.com/lanyard-dev/lanyard/internal/flight"
)

const (
	// DefaultMaxAnswers is how many answers of one provider are kept when nothing else is said.
	DefaultMaxAnswers = 4096
	// DefaultMaxRuns is how many processes of one provider run at one time when nothing else is said.
	DefaultMaxRuns = 32
)

// Options say what a pool works with. The zero value serves providers without tokenAttributes.
type Options struct {
	// Gates are the feature gates. With KubeletServiceAccountTokenForCredentialProviders off, a configuration with
	// tokenAttributes is refused.
	Gates credprovider.Gates
	// Accounts finds service accounts; required when a provider has tokenAttributes.
	Accounts AccountSource
	// Tokens mints tokens; required when a provider has tokenAttributes. The pool keeps its tokens by pod UID, service
	// account (namespace, name and UID) and audience, until 80% of their life or 24 hours have passed.
	Tokens TokenSource
	// Plugin are the bounds of the plugins that [Open] finds. Its MaxOutput bounds the answers of any [Runner], see
	// [plugin.Check].
	Plugin plugin.Options
	// Now is the clock; nil is time.Now.
	Now func() time.Time
	// Recorder takes measurements. If nil, they are discarded.
	Recorder Recorder
	// MaxAnswers is how many answers of one provider are kept; zero is DefaultMaxAnswers.
	MaxAnswers int
	// MaxTokens is how many tokens are kept; zero is DefaultMaxTokens.
	MaxTokens int
	// MaxRuns is how many runs of one provider go on at one time; more wait their turn. Zero is DefaultMaxRuns.
	MaxRuns int
}

// Pool answers lookups. Its configuration does not change; its caches live in memory and end with it. It is safe for
// concurrent use.
type Pool struct {
	matcher  *credprovider.Matcher
	members  []*member
	accounts AccountSource
	tokens   *tokenCache
	now      func() time.Time
	recorder Recorder
	// maxAnswer is the largest answer in bytes.
	maxAnswer int64
}

// Open reads and validates the configuration at path, finds all plugins in binDir, and reports the configuration's
// hash. The configuration is read once: a change of the files takes effect in the next pool.
//
// Errors are those of [configfile.Load], [credprovider.Validate], [plugin.FindAll] and [New].
func Open(path, binDir string, options Options) (*Pool, error) {
	loaded, err := configfile.Load(path)
	if err != nil {
		return nil, err
	}
	if err := credprovider.Validate(loaded.Config, options.Gates); err != nil {
		return nil, err
	}
	plugins, err := plugin.FindAll(loaded.Config.Providers, binDir, options.Plugin)
	if err != nil {
		return nil, err
	}
	runners := make([]Runner, len(plugins))
	for i, p := range plugins {
		runners[i] = p
	}
	pool, err := New(loaded.Config, runners, options)
	if err != nil {
		return nil, err
	}
	pool.recorder.ConfigInfo(loaded.Hash)
	return pool, nil
}

// New returns a pool of the providers of config, each with the runner at its index. Errors: those of
// [credprovider.Validate], ErrNoAccounts, ErrNoTokens, and another number of runners than of providers.
func New(config credprovider.Config, runners []Runner, options Options) (*Pool, error) {
	if err := credprovider.Validate(config, options.Gates); err != nil {
		return nil, err
	}
	if len(runners) != len(config.Providers) {
		return nil, fmt.Errorf("%d runners for %d providers", len(runners), len(config.Providers))
	}
	pool := &Pool{accounts: options.Accounts, now: options.Now, recorder: options.Recorder, maxAnswer: options.Plugin.MaxOutput}
	if pool.now == nil {
		pool.now = time.Now
	}
	if pool.recorder == nil {
		pool.recorder = silentRecorder{}
	}
	if options.Tokens != nil {
		pool.tokens = newTokenCache(options.Tokens, pool.now, options.MaxTokens)
	}
	return pool, pool.enlist(config.Providers, runners, options)
}

func (p *Pool) enlist(providers []credprovider.Provider, runners []Runner, options Options) error {
	patterns := make([][]string, len(providers))
	for i, config := range providers {
		if config.TokenAttributes != nil && p.accounts == nil {
			return ErrNoAccounts
		}
		if config.TokenAttributes != nil && p.tokens == nil {
			return ErrNoTokens
		}
		patterns[i] = config.MatchImages
		p.members = append(p.members, &member{
			pool: p, config: config, runner: runners[i], flights: new(flight.Group[flightKey, outcome]), turns: make(chan struct{}, orDefault(options.MaxRuns, DefaultMaxRuns)),
			answers: newExpiring[credprovider.CacheKey, *credprovider.Keyring](orDefault(options.MaxAnswers, DefaultMaxAnswers)),
		})
	}
	var err error
	p.matcher, err = credprovider.NewMatcher(patterns)
	return err
}

func orDefault(n, otherwise int) int {
	if n <= 0 {
		return otherwise
	}
	return n
}

// inPlace is the number of matching providers up to which a lookup keeps its work on the stack.
const inPlace = 8

// Lookup returns the credentials for image, in the order in which a pull tries them; nil when there are none. The image
// is a normalised repository, as [credprovider.ParseImage] returns it.
//
// Every matching provider is asked. The error joins the errors of those that failed, in their order: *[Error] before
// the plugin was run, else that of its Runner, such as *plugin.Error, or that of [plugin.Check], which every answer is
// put to whatever the Runner is. A Runner's error that quotes the token is shown without it. The error comes together
// with the credentials of the others, and the caller goes on with them, or without any; it says why in an event.
// Nothing is kept of a failure.
//
// A provider that requires a service account is skipped, without an error, for a pod that has none.
func (p *Pool) Lookup(ctx context.Context, image string, pod Pod) ([]credprovider.Credential, error) {
	var indexes [inPlace]int
	matching := p.matcher.AppendMatches(indexes[:0], image)
	if len(matching) == 1 {
		answer, err := p.members[matching[0]].answer(ctx, image, pod)
		if err != nil {
			return nil, errors.Join(err)
		}
		return credprovider.Credentials(image, answer), nil
	}
	if len(matching) == 0 {
		return nil, nil
	}
	return p.lookupAll(ctx, matching, image, pod)
}

// lookupAll asks several providers at one time, because one that hangs must not hold the others' answers back for
// longer than it holds the pull.
func (p *Pool) lookupAll(ctx context.Context, matching []int, image string, pod Pod) ([]credprovider.Credential, error) {
	answers := make([]*credprovider.Keyring, len(matching))
	faults := make([]error, len(matching))
	var wait sync.WaitGroup
	for i, index := range matching {
		m := p.members[index]
		if cached, ok := m.cachedWithoutAccount(image); ok {
			answers[i] = cached
			continue
		}
		wait.Go(func() { answers[i], faults[i] = m.answer(ctx, image, pod) })
	}
	wait.Wait()
	return credprovider.Credentials(image, answers...), errors.Join(faults...)
}

// Forget drops what the pool keeps for a pod that is gone: its tokens.
func (p *Pool) Forget(podUID string) {
	if p.tokens != nil {
		p.tokens.Forget(podUID)
	}
}
