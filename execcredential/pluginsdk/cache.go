package pluginsdk

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/lanyard-dev/lanyard/execcredential"
)

const (
	// DefaultMargin is how much of a lifetime an answer must have left to be given again.
	DefaultMargin = 30 * time.Second
	// maxCacheBytes is the largest cache file that is read.
	maxCacheBytes = 1 << 20 // 1 MiB
)

// ErrCacheDir is the condition of a cache directory that others may read or write.
var ErrCacheDir = errors.New("cache directory is open to others, want mode 0700")

// Cache keeps answers in files of mode 0600, one for each key, and lets one process at a time log in for a key. It
// writes secrets to disk: where the platform has a keychain, a provider that uses it needs no Cache.
type Cache struct {
	// Dir is the directory; it is made with mode 0700 when absent.
	Dir string
	// Margin is how much of its lifetime an answer must have left; zero is DefaultMargin. An answer without an expiry
	// is not kept.
	Margin time.Duration
	// Now is the clock; nil is time.Now.
	Now func() time.Time
}

// Do returns the kept answer for key, or logs in and keeps the answer. Processes that ask for one key wait for each
// other: the lock is the operating system's and ends with its holder, so a process that crashed blocks no other.
//
// A file that is damaged, too large or open to others counts as absent; an answer that cannot be kept is still given.
// Errors: [ErrCacheDir]; the context's error while waiting; those of login and of the file system.
func (c *Cache) Do(ctx context.Context, key string, login func(context.Context) (execcredential.Status, error)) (execcredential.Status, error) {
	if err := c.prepare(); err != nil {
		return execcredential.Status{}, err
	}
	file := filepath.Join(c.Dir, digest(key))
	if status, ok := c.read(file); ok {
		return status, nil
	}
	unlock, err := lock(ctx, file+".lock")
	if err != nil {
		return execcredential.Status{}, err
	}
	defer unlock()
	if status, ok := c.read(file); ok { // another process logged in while this one waited
		return status, nil
	}
	status, err := login(ctx)
	if err != nil {
		return execcredential.Status{}, err
	}
	_ = c.write(file, status) // a login that cannot be kept is still a login
	return status, nil
}

// Forget removes the answer for key, for a provider that learns of its refusal. A missing answer is not an error.
func (c *Cache) Forget(key string) error {
	err := os.Remove(filepath.Join(c.Dir, digest(key)))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

func (c *Cache) prepare() error {
	if err := os.MkdirAll(c.Dir, 0o700); err != nil {
		return err
	}
	info, err := os.Stat(c.Dir)
	if err != nil {
		return err
	}
	if !private(info) {
		return ErrCacheDir
	}
	return nil
}

func (c *Cache) read(path string) (execcredential.Status, bool) {
	data, err := readPrivate(path)
	if err != nil {
		return execcredential.Status{}, false
	}
	status, err := decodeCacheFile(data)
	if err != nil || status.ExpirationTimestamp == nil || !c.now().Add(c.margin()).Before(*status.ExpirationTimestamp) {
		return execcredential.Status{}, false
	}
	return status, true
}

// write replaces the file in one step, so that a reader sees the old answer or the new one.
func (c *Cache) write(path string, status execcredential.Status) error {
	if status.ExpirationTimestamp == nil {
		return nil
	}
	data, err := execcredential.EncodeAnswer(execcredential.V1, status)
	if err != nil {
		return err
	}
	temporary, err := os.CreateTemp(c.Dir, "new-") // mode 0600
	if err != nil {
		return err
	}
	_, err = temporary.WriteString(data)
	if err = errors.Join(err, temporary.Sync(), temporary.Close()); err == nil {
		err = os.Rename(temporary.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(temporary.Name()))
	}
	return nil
}

func (c *Cache) now() time.Time {
	if c.Now != nil {
		return c.Now()
	}
	return time.Now()
}

func (c *Cache) margin() time.Duration {
	if c.Margin > 0 {
		return c.Margin
	}
	return DefaultMargin
}

// decodeCacheFile reads the content of a cache file: an answer of version V1 that a client would take. Errors are those
// of [execcredential.Parse], [execcredential.ErrNoStatus] and [execcredential.NewCredential].
func decodeCacheFile(data []byte) (execcredential.Status, error) {
	object, err := execcredential.Parse(data)
	switch {
	case err != nil:
		return execcredential.Status{}, err
	case object.APIVersion != execcredential.V1:
		return execcredential.Status{}, &execcredential.VersionError{Want: execcredential.V1, Got: object.APIVersion}
	case object.Status == nil:
		return execcredential.Status{}, execcredential.ErrNoStatus
	}
	_, err = execcredential.NewCredential(*object.Status)
	return *object.Status, err
}

// cacheKey separates its parts by their JSON form, so that no two requests run together.
func cacheKey(request Request, extra string) string {
	told := execcredential.ExecConfig{APIVersion: execcredential.V1, ProvideClusterInfo: true}
	info, _ := execcredential.Info(told, request.Cluster, false) // a decoded request can always be encoded
	key, _ := json.Marshal([]string{request.APIVersion, info, extra})
	return string(key)
}

func digest(key string) string {
	sum := sha256.Sum256([]byte(key))
	return hex.EncodeToString(sum[:])
}
