package registryauth

import (
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/lanyard-dev/lanyard/examples/registryauth/workload"
)

// DefaultLifetime is how long a password is good when nothing else is said.
const DefaultLifetime = time.Minute

// Options of a front.
type Options struct {
	// Registry serves what is let through.
	Registry http.Handler
	// Verifier tells whose a token is.
	Verifier workload.Verifier
	// Grants are the repositories that a service account, as "namespace/name", may pull.
	Grants map[string][]string
	// Node is a standing login for repositories that any pod of the node may use; the zero value is none.
	Node Login
	// Lifetime is how long a password is good; 0 is DefaultLifetime.
	Lifetime time.Duration
	// Now is the clock by which passwords end; nil is time.Now.
	Now func() time.Time
}

// Login is a standing user name and password, and what it may pull.
type Login struct {
	Username, Password string
	Repositories       []string
}

// Front is the handler. It is safe for concurrent use.
type Front struct {
	options Options

	mu        sync.Mutex
	grants    map[string][]string
	passwords map[[32]byte]grant
	exchanges []Exchange
	reads     []Read
}

// Read is one manifest that was let through.
type Read struct{ Username, Repository string }

// New returns a front.
func New(o Options) *Front {
	if o.Lifetime == 0 {
		o.Lifetime = DefaultLifetime
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	f := &Front{options: o, grants: map[string][]string{}, passwords: map[[32]byte]grant{}}
	for account, repositories := range o.Grants {
		f.grants[account] = slices.Clone(repositories)
	}
	return f
}

// Grant lets an account pull a repository from now on.
func (f *Front) Grant(account, repository string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.grants[account] = append(f.grants[account], repository)
}

// Reads returns the manifests that were let through, in their order.
func (f *Front) Reads() []Read {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.reads)
}

// ServeHTTP exchanges tokens, and lets those read that have a password.
func (f *Front) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/exchange" {
		f.exchange(w, r)
		return
	}
	username, password, given := r.BasicAuth()
	if !given {
		refuse(w, http.StatusUnauthorized, "UNAUTHORIZED", "a password is needed")
		return
	}
	readable, known := f.login(username, password)
	if !known {
		refuse(w, http.StatusUnauthorized, "UNAUTHORIZED", "the password is not known, or no longer good")
		return
	}
	if r.URL.Path != "/v2/" && !f.admit(r, username, readable) {
		refuse(w, http.StatusForbidden, "DENIED", "not this repository")
		return
	}
	f.options.Registry.ServeHTTP(w, r)
}

// admit reports whether the request reads one of the repositories, and notes manifests.
func (f *Front) admit(r *http.Request, username string, readable []string) bool {
	repository, kind := target(r.URL.Path)
	if !slices.Contains(readable, repository) || r.Method != http.MethodGet && r.Method != http.MethodHead {
		return false
	}
	if kind == "manifests" {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.reads = append(f.reads, Read{username, repository})
	}
	return true
}

// target takes /v2/REPOSITORY/KIND/REFERENCE apart.
func target(path string) (repository, kind string) {
	parts := strings.Split(strings.TrimPrefix(path, "/v2/"), "/")
	if len(parts) < 3 {
		return "", ""
	}
	end := len(parts) - 2
	return strings.Join(parts[:end], "/"), parts[end]
}

// refuse answers in the form that registries have.
func refuse(w http.ResponseWriter, status int, code, message string) {
	if status == http.StatusUnauthorized {
		w.Header().Set("WWW-Authenticate", `Basic realm="lanyard"`)
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write([]byte(`{"errors":[{"code":"` + code + `","message":"` + message + `"}]}`)) // the client is gone when this errs
}
