package registryauth

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"time"
)

// PasswordPrefix begins every password, so that one that got out can be searched for.
const PasswordPrefix = "lanyard_pull_"

// grant is what a password is good for.
type grant struct {
	username, repository string
	until                time.Time
}

// NewPassword returns a password that nobody had before.
func NewPassword() string { return PasswordPrefix + rand.Text() }

// newPassword makes a password for one repository; the caller holds the lock. Only its
// hash is kept, and the hashes of those that are over are dropped.
func (f *Front) newPassword(username, repository string) string {
	now := f.options.Now()
	for hash, g := range f.passwords {
		if now.After(g.until) {
			delete(f.passwords, hash)
		}
	}
	password := NewPassword()
	f.passwords[sha256.Sum256([]byte(password))] = grant{username, repository, now.Add(f.options.Lifetime)}
	return password
}

// login returns the repositories that a user with that password may read.
func (f *Front) login(username, password string) ([]string, bool) {
	if n := f.options.Node; n.Password != "" && n.Username == username {
		return n.Repositories, subtle.ConstantTimeCompare([]byte(n.Password), []byte(password)) == 1
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	g, known := f.passwords[sha256.Sum256([]byte(password))]
	if !known || g.username != username || f.options.Now().After(g.until) {
		return nil, false
	}
	return []string{g.repository}, true
}
