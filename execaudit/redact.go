package execaudit

import (
	"net/url"
	"strings"

	"github.com/lanyard-dev/lanyard/redact"
)

// RedactURL returns u as text that may be logged: the value of every env parameter and
// the password are replaced by [redacted], everything else is as in u.String.
// u is not changed; nil gives "".
//
// Source: KEP-6035, Risks and Mitigations, Log exposure.
func RedactURL(u *url.URL) string {
	if u == nil {
		return ""
	}
	redacted := *u
	redacted.RawQuery = RedactQuery(u.RawQuery)
	return redacted.Redacted()
}

// RedactURI is RedactURL for the text of a request line, such as
// http.Request.RequestURI. It parses nothing, so it redacts what does not parse.
func RedactURI(uri string) string {
	path, query, found := strings.Cut(uri, "?")
	if !found {
		return uri
	}
	return path + "?" + RedactQuery(query)
}

// RedactQuery returns rawQuery with env=NAME=[redacted] for every env
// parameter and each other parameter untouched and in place. A name is kept
// only where it is one (ValidName, up to 64 bytes), so a value that stands
// alone is not shown. In doubt it redacts: a key that does not decode counts as
// env, and so does one after a semicolon or, in a URL that is a parameter's value, after
// another question mark.
func RedactQuery(rawQuery string) string {
	var safe strings.Builder
	for rest, more := rawQuery, true; more; {
		var segment string
		segment, rest, more = strings.Cut(rest, "&")
		writeRedacted(&safe, segment)
		if more {
			safe.WriteByte('&')
		}
	}
	return safe.String()
}

// writeRedacted keeps what stands before an env parameter and redacts to the
// end of the segment, because for most parsers a semicolon does not end a value.
func writeRedacted(safe *strings.Builder, segment string) {
	for rest := segment; rest != ""; {
		part := rest
		if end := strings.IndexAny(rest, ";?"); end >= 0 {
			part = rest[:end]
		}
		key, value, found := strings.Cut(part, "=")
		if found && mayBeQueryParam(key) {
			safe.WriteString(key + "=" + nameOf(value) + redact.Mark)
			return
		}
		end := min(len(part)+1, len(rest))
		safe.WriteString(rest[:end])
		rest = rest[end:]
	}
}

// nameOf returns "NAME=" when the escaped text begins with a name, else "".
func nameOf(escaped string) string {
	end := strings.IndexAny(escaped, "=%") // no name holds a '%'
	if end < 0 || end > maxShownNameBytes || !ValidName(escaped[:end]) {
		return ""
	}
	if rest := escaped[end:]; rest[0] == '=' || strings.HasPrefix(rest, "%3D") || strings.HasPrefix(rest, "%3d") {
		return escaped[:end] + "="
	}
	return ""
}
