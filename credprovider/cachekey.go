package credprovider

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/lanyard-dev/lanyard/redact"
)

// CacheKeyType says for which images an answer of a plugin is good.
type CacheKeyType string

// The cache key types of the protocol.
const (
	// KeyImage: for this image.
	KeyImage CacheKeyType = "Image"
	// KeyRegistry: for all images of its registry.
	KeyRegistry CacheKeyType = "Registry"
	// KeyGlobal: for all images.
	KeyGlobal CacheKeyType = "Global"
)

// ErrCacheKeyType is the condition of a cache key type that the protocol does not define.
var ErrCacheKeyType = errors.New("cacheKeyType is not Image, Registry or Global")

// ErrKeyTooLong is the condition of a value that does not fit into upstream's key: one over 65535 bytes.
var ErrKeyTooLong = errors.New("value too long for a cache key")

// maxKeyValue is the longest value in a cache key, because its length is written in 16 bits.
const maxKeyValue = 65535 // bytes

// globalKey cannot be an image: '<' is in no reference.
const globalKey = "<global>"

// CacheKey is the key of one answer in the cache of one provider. Two keys are equal when all their parts are;
// parts are never run together, so that no choice of names makes two keys meet.
type CacheKey struct {
	// Base is the image, its registry, or a constant for all images.
	Base string
	// Account is the form of the service account and, with CacheByToken, of the token; empty without one.
	Account string
}

// BaseKey returns the first part of a key: image itself, what stands before its first slash, or a constant.
// An unknown type is ErrCacheKeyType.
//
// Source: KEP-2133; Kubernetes 1.36, getCachedCredentials.
func BaseKey(keyType CacheKeyType, image string) (string, error) {
	switch keyType {
	case KeyImage:
		return image, nil
	case KeyRegistry:
		registry, _, _ := strings.Cut(image, "/")
		return registry, nil
	case KeyGlobal:
		return globalKey, nil
	}
	return "", fmt.Errorf("%w: %q", ErrCacheKeyType, string(keyType))
}

// AccountKey returns the second part of a key: namespace, name and UID of the service account and the annotations that
// are sent, each with its length before it, annotations by key; with CacheByToken then the word token and the SHA-256
// of the token. Nothing of the pod is in it. The token is not looked at with CacheByServiceAccount.
//
// A value over 65535 bytes is ErrKeyTooLong; the error names the annotation's key, not its value.
//
// Source: KEP-4412, Caching Credentials; byte for byte that of Kubernetes 1.36.
func AccountKey(account AccountRef, annotations map[string]string, cacheType TokenCacheType, token redact.Text) (string, error) {
	b := keyBuilder{text: make([]byte, 0, keySize(account, annotations))}
	b.add("namespace", account.Namespace)
	b.add("name", account.Name)
	b.add("uid", account.UID)
	b.text = binary.BigEndian.AppendUint32(b.text, uint32(len(annotations)))
	keys := make([]string, 0, len(annotations))
	for key := range annotations {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	for _, key := range keys {
		b.add("annotation key", key)
		b.add(key, annotations[key])
	}
	if cacheType == CacheByToken {
		sum := sha256.Sum256([]byte(token.Reveal()))
		b.add("", "token")
		b.add("", "sha256:"+hex.EncodeToString(sum[:]))
	}
	return string(b.text), b.err
}

// keySize is a little over the length of a key, so that one is made with one allocation.
func keySize(account AccountRef, annotations map[string]string) int {
	size := len(account.Namespace) + len(account.Name) + len(account.UID) + 2*sha256.Size + 64
	for key, value := range annotations {
		size += len(key) + len(value) + 4
	}
	return size
}

// Bytes returns upstream's form of the whole key: both parts, each with its length before it. A part over 65535 bytes
// is ErrKeyTooLong.
func (k CacheKey) Bytes() ([]byte, error) {
	var b keyBuilder
	b.add("image", k.Base)
	b.add("service account", k.Account)
	return b.text, b.err
}

// keyBuilder writes values with a 16-bit length before each, and keeps the first error.
type keyBuilder struct {
	text []byte
	err  error
}

func (b *keyBuilder) add(what, value string) {
	if len(value) > maxKeyValue {
		if b.err == nil {
			b.err = fmt.Errorf("%w: %q has %d bytes, the limit is %d", ErrKeyTooLong, what, len(value), maxKeyValue)
		}
		return
	}
	b.text = binary.BigEndian.AppendUint16(b.text, uint16(len(value)))
	b.text = append(b.text, value...)
}
