package credprovider

import (
	"cmp"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/lanyard-dev/lanyard/redact"
)

// Credential is a user name and a password to try on a registry, and where they come from.
type Credential struct {
	// Pattern is the pattern of the images they are for, as it is matched.
	Pattern string `json:"pattern"`
	// Username and Password are what the registry is given. Both may be empty.
	Username string      `json:"username"`
	Password redact.Text `json:"password"`
	// Provider is the name of the provider.
	Provider string `json:"provider"`
	// Account is the service account whose token they were got with, nil when none was sent: then any pod of the node
	// may use the image that they pull.
	Account *AccountRef `json:"account,omitempty"`
}

// Keyring holds the credentials of one answer, in the order in which they are tried. It is immutable, and safe for
// concurrent use.
type Keyring struct {
	entries []entry
	// skipped holds the keys that are not patterns.
	skipped []string
}

type entry struct {
	pattern    Pattern
	credential Credential
}

// NewKeyring returns a keyring of the credentials of one answer: auth by pattern, from the provider and for the
// account.
//
// A key may begin with "http://" or "https://", and its path with "/v1/" or "/v2/": both are dropped, as is the path
// "/". A key that is not a pattern is left out and returned by Skipped.
//
// Source: KEP-2133; Kubernetes 1.36, BasicDockerKeyring.Add.
func NewKeyring(provider string, account *AccountRef, auth map[string]AuthConfig) *Keyring {
	k := &Keyring{entries: make([]entry, 0, len(auth))}
	for _, key := range slices.Sorted(maps.Keys(auth)) {
		text, ok := patternOfKey(key)
		pattern, err := Compile(text)
		if !ok || err != nil {
			k.skipped = append(k.skipped, key)
			continue
		}
		k.entries = append(k.entries, entry{pattern, Credential{
			Pattern: text, Username: auth[key].Username, Password: auth[key].Password, Provider: provider, Account: account,
		}})
	}
	slices.SortStableFunc(k.entries, reverseByText)
	return k
}

// patternOfKey rewrites a key as Docker's configuration file has always allowed it into a pattern.
func patternOfKey(key string) (string, bool) {
	if !strings.HasPrefix(key, "http://") && !strings.HasPrefix(key, "https://") {
		key = "https://" + key
	}
	parsed, err := url.Parse(key)
	if err != nil {
		return "", false
	}
	path := parsed.Path
	if strings.HasPrefix(path, "/v1/") || strings.HasPrefix(path, "/v2/") {
		path = path[len("/v1"):]
	}
	if path == "/" {
		path = ""
	}
	return parsed.Host + path, true
}

// reverseByText puts longer patterns before their prefixes, and letters before wildcards.
func reverseByText(a, b entry) int { return cmp.Compare(b.credential.Pattern, a.credential.Pattern) }

// Skipped returns the keys that are not patterns, ascending; nil when there are none. The caller must not change it.
func (k *Keyring) Skipped() []string { return k.skipped }

// Len returns the number of credentials.
func (k *Keyring) Len() int { return len(k.entries) }

// Credentials returns the credentials for image of several answers, in the order in which a pull tries them: by pattern
// in reverse byte order, so that longer patterns come before their prefixes; under one pattern in the order of the
// answers. When none matches and the image is on the default registry, those under "index.docker.io". Nil when there
// are none. The answers may hold nil.
//
// Source: KEP-2133; Kubernetes 1.36, BasicDockerKeyring.Lookup.
func Credentials(image string, answers ...*Keyring) []Credential {
	var found []Credential
	if at, err := locate(image); err == nil {
		labels := at.labels()
		found = collect(answers, func(e *entry) bool { return e.pattern.matches(at, labels) })
	}
	if found == nil && isDefaultRegistry(image) {
		found = collect(answers, func(e *entry) bool { return e.credential.Pattern == legacyDomain })
	}
	return found
}

func collect(answers []*Keyring, matches func(*entry) bool) []Credential {
	var found []Credential
	sources := 0
	for _, k := range answers {
		before := len(found)
		if k == nil {
			continue
		}
		for i := range k.entries {
			if matches(&k.entries[i]) {
				found = append(found, k.entries[i].credential)
			}
		}
		if len(found) > before {
			sources++
		}
	}
	if sources > 1 {
		slices.SortStableFunc(found, func(a, b Credential) int { return cmp.Compare(b.Pattern, a.Pattern) })
	}
	return found
}

// isDefaultRegistry reports whether image is pulled from Docker Hub: its first part is docker.io or index.docker.io, or
// there is one part only, or the first has neither a dot nor a colon.
//
// Source: Kubernetes 1.36, isDefaultRegistryMatch.
func isDefaultRegistry(image string) bool {
	first, _, found := strings.Cut(image, "/")
	switch {
	case first == "":
		return false
	case !found, first == defaultDomain, first == legacyDomain:
		return true
	}
	return !strings.ContainsAny(first, ".:")
}
