package conformance_test

import (
	"errors"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/lanyard-dev/lanyard/envprecedence"
)

// environ makes the environment of an exec'd process, as runtime.Config.Environ.
type environ func(container, request []string, tty bool) ([]string, error)

// raw in an environment has the reference runtime hand it over as it is, past the low-level runtime, which would keep
// the last of duplicates.
const raw = "RAW=\xff"

func correct(container, request []string, tty bool) ([]string, error) {
	if tty {
		container = append(slices.Clone(container), "TERM=xterm")
	}
	env, _, err := envprecedence.Merge(envprecedence.Tiers{Caller: request, Container: container}, envprecedence.PlatformLinux)
	return env, err
}

// eachRequested changes what arrives of the request, entry by entry; not ok drops it.
func eachRequested(change func(name, value string) (string, bool)) environ {
	return func(container, request []string, tty bool) ([]string, error) {
		var out []string
		for _, e := range request {
			name, value, _ := strings.Cut(e, "=")
			if value, ok := change(name, value); ok {
				out = append(out, name+"="+value)
			}
		}
		return correct(container, out, tty)
	}
}

func dropsEmpty(container, request []string, tty bool) ([]string, error) {
	return eachRequested(func(_, value string) (string, bool) { return value, value != "" })(container, request, tty)
}

func filters(prefix string) environ {
	return eachRequested(func(name, value string) (string, bool) { return value, !strings.HasPrefix(name, prefix) })
}

// lookup is the last value of the name; a name that is not there stands for itself.
func lookup(env []string, name, reference string) string {
	for _, e := range slices.Backward(env) {
		if value, ok := strings.CutPrefix(e, name+"="); ok {
			return value
		}
	}
	return reference
}

// expand replaces references of the form, whose first group is the name.
func expand(form string, env []string, value string) string {
	re := regexp.MustCompile(form)
	return re.ReplaceAllStringFunc(value, func(reference string) string {
		return lookup(env, re.FindStringSubmatch(reference)[1], reference)
	})
}

func expandsRequest(form string) environ {
	return func(container, request []string, tty bool) ([]string, error) {
		return expanding(form, request)(container, request, tty)
	}
}

func expanding(form string, from []string) environ {
	return eachRequested(func(_, value string) (string, bool) { return expand(form, from, value), true })
}

const dollar = `\$([A-Za-z_][A-Za-z0-9_]*)`

func expandsAgainstBaseline(container, request []string, tty bool) ([]string, error) {
	return expanding(dollar, container)(container, request, tty)
}

func expandsBaseline(container, request []string, tty bool) ([]string, error) {
	out := make([]string, len(container))
	for i, e := range container {
		out[i] = expand(dollar, request, e)
	}
	return correct(out, request, tty)
}

func baselineWins(container, request []string, tty bool) ([]string, error) {
	return correct(request, container, tty)
}

func replaces(container, request []string, tty bool) ([]string, error) {
	if len(request) == 0 {
		return correct(container, nil, tty)
	}
	return correct(nil, request, tty)
}

func firstWins(container, request []string, tty bool) ([]string, error) {
	request = slices.Clone(request)
	slices.Reverse(request)
	return correct(container, request, tty)
}

// keepsDuplicates resolves the request against the container, but not within itself.
func keepsDuplicates(container, request []string, tty bool) ([]string, error) {
	rest := slices.DeleteFunc(slices.Clone(container), func(e string) bool {
		name, _, _ := strings.Cut(e, "=")
		return lookup(request, name, "\x00") != "\x00"
	})
	return slices.Concat(request, rest, []string{raw}), nil
}

// keepsBaseline appends the request and leaves the container's entries where they are.
func keepsBaseline(container, request []string, _ bool) ([]string, error) {
	return slices.Concat(container, request, []string{raw}), nil
}

func truncatesEntries(container, request []string, tty bool) ([]string, error) {
	return correct(container, request[:min(len(request), 128)], tty)
}

func ignoresWithTerminal(container, request []string, tty bool) ([]string, error) {
	if tty {
		request = nil
	}
	return correct(container, request, tty)
}

func rejectsNonUTF8(container, request []string, tty bool) ([]string, error) {
	if slices.ContainsFunc(request, func(e string) bool { return !utf8.ValidString(e) }) {
		return nil, errors.New("environment is not UTF-8")
	}
	return correct(container, request, tty)
}

// replacesNonUTF8 does what encoding/json does to a process spec.
func replacesNonUTF8(container, request []string, tty bool) ([]string, error) {
	return eachRequested(func(_, value string) (string, bool) { return strings.ToValidUTF8(value, "\ufffd"), true })(container, request, tty)
}

func dropsNonUTF8(container, request []string, tty bool) ([]string, error) {
	return eachRequested(func(_, value string) (string, bool) { return value, utf8.ValidString(value) })(container, request, tty)
}

func asciiOnly(container, request []string, tty bool) ([]string, error) {
	ascii := func(r rune) rune {
		if r > unicode.MaxASCII {
			return '?'
		}
		return r
	}
	return eachRequested(func(_, value string) (string, bool) { return strings.Map(ascii, value), true })(container, request, tty)
}

// leaksIntoNext gives each session what those before it had beyond the container's own.
func leaksIntoNext() environ {
	var mu sync.Mutex
	var kept []string
	return func(container, request []string, tty bool) ([]string, error) {
		mu.Lock()
		defer mu.Unlock()
		env, _, err := envprecedence.Merge(envprecedence.Tiers{Caller: request, Container: append(slices.Clone(kept), container...)}, envprecedence.PlatformLinux)
		kept = append(kept, request...)
		return env, err
	}
}

// mixesUp gives overlapping sessions each other's values.
func mixesUp() environ {
	var mu sync.Mutex
	last := map[string]string{}
	return eachRequested(func(name, value string) (string, bool) {
		mu.Lock()
		defer mu.Unlock()
		if name != "CONF_SESSION" {
			return value, true
		}
		if other, ok := last[name]; ok {
			value = other
		} else {
			last[name] = value
		}
		return value, true
	})
}
