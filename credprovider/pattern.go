package credprovider

import (
	"errors"
	"fmt"
	"net/url"
	"path"
	"strings"
)

// Pattern is a compiled entry of matchImages, or a key of the credentials that a plugin returns. The zero value
// matches what the pattern "" matches: an image without host. Patterns are immutable.
//
// A pattern is a host with an optional port and an optional path, read as a URL without scheme. An image matches when the
// ports are equal, both hosts have the same number of labels, each label of the pattern matches as in path.Match, and the
// path of the pattern is a prefix of the image's: of the text, so "gcr.io/proj" matches "gcr.io/project2". There are no
// wildcards in ports and paths. Case counts. An IPv6 address needs a port: without one its brackets are a class of path.Match.
//
// Source: KEP-2133, matchImages; Kubernetes 1.36, URLsMatch.
type Pattern struct {
	text   string
	at     location
	labels int
	glob   bool   // whether a label holds a wildcard
	head   string // of a glob: what the host begins with
	tail   string // of a glob: what the host ends with
}

// PatternError says that a pattern cannot be compiled.
type PatternError struct {
	// Pattern is the text.
	Pattern string
	// Err is the reason: a *url.Error, or path.ErrBadPattern.
	Err error
}

// Error returns the pattern and the reason.
func (e *PatternError) Error() string { return fmt.Sprintf("pattern %q: %v", e.Pattern, e.Err) }

// Unwrap returns the reason.
func (e *PatternError) Unwrap() error { return e.Err }

// Compile returns the pattern of text. The error is a *[PatternError]: text is no URL after "https://", or a label of its
// host is no pattern of path.Match.
func Compile(text string) (Pattern, error) {
	at, err := locate(text)
	if err != nil {
		return Pattern{}, &PatternError{Pattern: text, Err: err}
	}
	p := Pattern{text: text, at: at, labels: at.labels()}
	first := strings.IndexAny(at.host, `*?[\`)
	if first < 0 {
		return p, nil
	}
	for label := range strings.SplitSeq(at.host, ".") {
		if _, err := path.Match(label, ""); err != nil {
			return Pattern{}, &PatternError{Pattern: text, Err: err}
		}
	}
	p.glob, p.head = true, at.host[:first]
	p.tail = at.host[strings.LastIndexAny(at.host, `*?]\`)+1:]
	if strings.ContainsAny(at.host, `[\`) {
		p.tail = "" // an escaped or bracketed byte is not the byte itself
	}
	return p, nil
}

// String returns the text that was compiled.
func (p Pattern) String() string { return p.text }

// Host returns the host of the pattern, without the port.
func (p Pattern) Host() string { return p.at.host }

// Port returns the port of the pattern as it was written, or the empty string.
func (p Pattern) Port() string { return p.at.port }

// Path returns the path of the pattern, decoded: empty, or beginning with "/".
func (p Pattern) Path() string { return p.at.path }

// Match reports whether image matches. An image that is no URL after "https://" matches nothing. Normalised images take no
// allocation.
func (p Pattern) Match(image string) bool {
	at, err := locate(image)
	return err == nil && p.matches(at, at.labels())
}

func (p *Pattern) matches(at location, labels int) bool {
	if labels != max(p.labels, 1) || at.port != p.at.port || !strings.HasPrefix(at.path, p.at.path) {
		return false
	}
	if !p.glob {
		return at.host == p.at.host
	}
	return strings.HasPrefix(at.host, p.head) && strings.HasSuffix(at.host, p.tail) && globMatches(p.at.host, at.host)
}

// globMatches goes label by label; both hosts have the same number of them.
func globMatches(pattern, host string) bool {
	for {
		label, patternRest, more := strings.Cut(pattern, ".")
		target, hostRest, _ := strings.Cut(host, ".")
		if label != "*" {
			if ok, err := path.Match(label, target); !ok || err != nil {
				return false
			}
		}
		if !more {
			return true
		}
		pattern, host = patternRest, hostRest
	}
}

// reasonOf returns the text of what a *PatternError wraps.
func reasonOf(err error) string {
	var pattern *PatternError
	if errors.As(err, &pattern) {
		err = pattern.Err
	}
	var parse *url.Error
	if errors.As(err, &parse) {
		return parse.Error()
	}
	return err.Error()
}
