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
// A pattern is a host with an optional port and an optional path, read as a URL without scheme. An image matches when
// the ports are equal, both hosts have the same number of labels, each label of the pattern matches as in path.Match,
// and the path of the pattern is a prefix of the image's: of the text, so "gcr.io/proj" matches "gcr.io/project2".
// There are no wildcards in ports and paths. Case counts. An IPv6 address needs a port: without one its brackets are a
// class of path.Match.
//
// Source: KEP-2133, matchImages; Kubernetes 1.36, URLsMatch.
type Pattern struct {
	text   string
	at     location
	pieces []piece // of the host; nil when it has no wildcards and is compared as a whole
	labels int     // of the host
}

// piece is a part of a host: one label with wildcards, or all the text between two such, dots included.
type piece struct {
	text string
	glob bool
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

// Compile returns the pattern of text. The error is a *[PatternError]: text is not a URL after "https://", or a label
// of its host is not a pattern of path.Match.
func Compile(text string) (Pattern, error) {
	at, err := locate(text)
	if err != nil {
		return Pattern{}, &PatternError{Pattern: text, Err: err}
	}
	p := Pattern{text: text, at: at, labels: at.labels()}
	if !strings.ContainsAny(at.host, wildcards) {
		return p, nil
	}
	if p.pieces, err = piecesOf(at.host); err != nil {
		return Pattern{}, &PatternError{Pattern: text, Err: err}
	}
	return p, nil
}

func piecesOf(host string) ([]piece, error) {
	var pieces []piece
	literal := ""
	for i, part := range strings.Split(host, ".") {
		if i > 0 {
			literal += "."
		}
		if !strings.ContainsAny(part, wildcards) {
			literal += part
			continue
		}
		if _, err := path.Match(part, ""); err != nil {
			return nil, err
		}
		if literal != "" {
			pieces = append(pieces, piece{text: literal})
		}
		pieces, literal = append(pieces, piece{text: part, glob: true}), ""
	}
	if literal != "" {
		pieces = append(pieces, piece{text: literal})
	}
	return pieces, nil
}

// wildcards are the bytes that path.Match gives a meaning.
const wildcards = `*?[\`

// String returns the text that was compiled.
func (p Pattern) String() string { return p.text }

// Host returns the host of the pattern, without the port.
func (p Pattern) Host() string { return p.at.host }

// Port returns the port of the pattern as it was written, or the empty string.
func (p Pattern) Port() string { return p.at.port }

// Path returns the path of the pattern, decoded: empty, or beginning with "/".
func (p Pattern) Path() string { return p.at.path }

// Match reports whether image matches. An image that is not a URL after "https://" matches nothing. Normalised images
// take no allocation.
func (p Pattern) Match(image string) bool {
	at, err := locate(image)
	return err == nil && p.matches(at, at.labels())
}

func (p *Pattern) matches(at location, labels int) bool {
	if labels != max(p.labels, 1) || at.port != p.at.port || !strings.HasPrefix(at.path, p.at.path) {
		return false
	}
	if p.pieces == nil {
		return at.host == p.at.host
	}
	rest, found := at.host, true
	for i := range p.pieces {
		if rest, found = p.pieces[i].cut(rest); !found {
			return false
		}
	}
	return rest == ""
}

// cut returns what is left of a host behind the piece.
func (p *piece) cut(host string) (rest string, found bool) {
	if !p.glob {
		return strings.CutPrefix(host, p.text)
	}
	end := strings.IndexByte(host, '.')
	if end < 0 {
		end = len(host)
	}
	if p.text == "*" {
		return host[end:], true
	}
	found, err := path.Match(p.text, host[:end])
	return host[end:], found && err == nil
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
