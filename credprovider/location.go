package credprovider

import (
	"net"
	"net/url"
	"strings"
)

// location is an image or a pattern taken apart as a URL without scheme.
type location struct {
	host string // without port; IPv6 addresses without brackets when there is a port
	port string // as written; empty when there is none
	path string // decoded; empty or beginning with "/"
}

// locate takes text apart. Plain text, which every normalised repository is, takes no allocation; the rest goes through
// net/url, whose reading of user names, queries and escapes is the rule.
func locate(text string) (location, error) {
	if loc, ok := locatePlain(text); ok {
		return loc, nil
	}
	parsed, err := url.Parse("https://" + text)
	if err != nil {
		return location{}, err
	}
	host, port, err := net.SplitHostPort(parsed.Host)
	if err != nil {
		host, port = parsed.Host, ""
	}
	return location{host: host, port: port, path: parsed.Path}, nil
}

// locatePlain reports false when text holds a byte to which net/url gives a meaning, or a port that is not a number.
func locatePlain(text string) (location, bool) {
	host, colon := 0, -1
	for ; host < len(text) && text[host] != '/'; host++ {
		switch c := text[host]; {
		case c == ':' && colon < 0:
			colon = host
		case colon >= 0 && (c < '0' || c > '9'), !isPlain(c):
			return location{}, false
		}
	}
	for i := host; i < len(text); i++ {
		if c := text[i]; c != '/' && c != ':' && !isPlain(c) {
			return location{}, false
		}
	}
	if colon < 0 {
		return location{host: text[:host], path: text[host:]}, true
	}
	return location{host: text[:colon], port: text[colon+1 : host], path: text[host:]}, true
}

// The plain bytes, as bits: dash, dot, digits; letters and underscore.
const (
	plainBelow64  = 1<<'-' | 1<<'.' | 0x3ff<<'0'
	plainBelow128 = 0x3ffffff<<('A'-64) | 1<<('_'-64) | 0x3ffffff<<('a'-64)
)

func isPlain(c byte) bool {
	if c-'a' < 26 { // most bytes are
		return true
	}
	if c < 64 {
		return uint64(plainBelow64)>>c&1 != 0
	}
	return c < 128 && uint64(plainBelow128)>>(c-64)&1 != 0
}

// authority returns the key under which a literal host is found: what stands before the path in plain text.
func (l location) authority() string {
	if l.port == "" {
		return l.host
	}
	return l.host + ":" + l.port
}

// labels returns the number of labels of the host, at least 1.
func (l location) labels() int { return strings.Count(l.host, ".") + 1 }
