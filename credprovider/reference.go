package credprovider

import (
	"errors"
	"fmt"
	"strings"
)

// Image is an image reference taken apart.
type Image struct {
	// Repository is the normalised name: domain and path, such as "docker.io/library/ubuntu". It is what patterns are
	// matched against and what a plugin is sent.
	Repository string
	// Tag is the tag, empty when there is none.
	Tag string
	// Digest is the digest with its algorithm, empty when there is none.
	Digest string
}

// ReferenceError says that a text is not an image reference. It unwraps to [ErrReference].
type ReferenceError struct {
	// Reference is the text.
	Reference string
	// Rule is what it breaks.
	Rule string
}

// ErrReference is the condition of every *[ReferenceError].
var ErrReference = errors.New("not an image reference")

// Error returns the text and the rule.
func (e *ReferenceError) Error() string {
	return fmt.Sprintf("image reference %q: %s", e.Reference, e.Rule)
}

// Unwrap returns ErrReference.
func (e *ReferenceError) Unwrap() error { return ErrReference }

const (
	// maxRepositoryPath is the longest path of a repository, without its domain.
	maxRepositoryPath = 255 // bytes

	defaultDomain = "docker.io"
	legacyDomain  = "index.docker.io"
	officialPath  = "library/"
)

// ParseImage takes a reference apart as a kubelet does before it asks for credentials: a missing domain is docker.io,
// index.docker.io is docker.io, and a name of one part on it is under library. Tag and digest are as written; none is
// made up. Errors are *[ReferenceError]s.
//
// Source: the distribution project's reference grammar, as Kubernetes 1.36 applies it.
func ParseImage(reference string) (Image, error) {
	rest, digest, hasDigest := strings.Cut(reference, "@")
	if hasDigest && !isDigest(digest) {
		return Image{}, &ReferenceError{reference, "the digest is not of a known algorithm and its length"}
	}
	name, tag, hasTag := cutTag(rest)
	if hasTag && !isTag(tag) {
		return Image{}, &ReferenceError{reference, "a tag is up to 128 letters, digits, '_', '.' and '-'"}
	}
	if isHex(reference, 64) {
		return Image{}, &ReferenceError{reference, "64 hexadecimal digits are an image ID, not a name"}
	}
	domain, path := splitDomain(name)
	if !isDomain(domain) && isRepositoryPath(domain) {
		// The grammar takes what looks like a domain but is not one as a part of the path: "a_b.c/d" has no domain.
		domain, path = "", domain+"/"+path
	}
	switch {
	case domain != "" && !isDomain(domain):
		return Image{}, &ReferenceError{reference, "the domain is not a host name with an optional port"}
	case strings.ToLower(path) != path:
		return Image{}, &ReferenceError{reference, "a repository name is lower case"}
	case !isRepositoryPath(path):
		return Image{}, &ReferenceError{reference, "a repository path is made of lower-case letters and digits, with single separators between them"}
	case len(path) > maxRepositoryPath:
		return Image{}, &ReferenceError{reference, "a repository path is at most 255 bytes"}
	}
	if domain != "" {
		path = domain + "/" + path
	}
	return Image{Repository: path, Tag: tag, Digest: digest}, nil
}

// cutTag cuts at the last colon after the last slash: before it, a colon belongs to a port.
func cutTag(name string) (rest, tag string, found bool) {
	colon := strings.LastIndexByte(name, ':')
	if colon <= strings.LastIndexByte(name, '/') {
		return name, "", false
	}
	return name[:colon], name[colon+1:], true
}

// splitDomain takes the first part as the domain when it looks like one: a dot, a colon, an upper-case letter, or
// localhost.
func splitDomain(name string) (domain, path string) {
	first, rest, found := strings.Cut(name, "/")
	if !found || (!strings.ContainsAny(first, ".:") && first != "localhost" && strings.ToLower(first) == first) {
		first, rest = defaultDomain, name
	}
	if first == legacyDomain {
		first = defaultDomain
	}
	if first == defaultDomain && !strings.Contains(rest, "/") {
		rest = officialPath + rest
	}
	return first, rest
}
