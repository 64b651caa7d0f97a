package execaudit

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
	"unicode/utf8"

	"github.com/lanyard-dev/lanyard/envprecedence"
)

// QueryParam is the query parameter that carries an entry, once per entry:
// env=NAME=VALUE. From the API server to the kubelet the KEP fixes this form;
// from the client to the API server this module uses it too.
//
// Source: KEP-6035, Audit ID Propagation.
const QueryParam = "env"

// ErrNotEncodable is what errors of EncodeQuery unwrap to.
var ErrNotEncodable = errors.New("entry cannot travel in a query")

// EncodeQuery returns the entries as "env=NAME%3DVALUE&env=...", in order,
// duplicates kept, escaped as url.QueryEscape does; "" for none.
//
// It refuses what would not come back from DecodeQuery as it went in, with an
// error that unwraps to ErrNotEncodable and names the position: an empty name, a name with
// '=', a NUL byte, invalid UTF-8.
func EncodeQuery(envs []envprecedence.Entry) (string, error) {
	var query strings.Builder
	for i := range envs {
		if reason := unencodable(&envs[i]); reason != "" {
			return "", fmt.Errorf("%w: %s[%d]: %s", ErrNotEncodable, QueryParam, i, reason)
		}
		if i > 0 {
			query.WriteByte('&')
		}
		query.WriteString(QueryParam + "=")
		query.WriteString(url.QueryEscape(envs[i].Name))
		query.WriteString("%3D")
		query.WriteString(url.QueryEscape(envs[i].Value.Reveal()))
	}
	return query.String(), nil
}

func unencodable(e *envprecedence.Entry) string {
	switch {
	case e.Name == "":
		return "the name is empty"
	case strings.ContainsAny(e.Name, "=\x00") || !utf8.ValidString(e.Name):
		return "the name holds '=', NUL or invalid UTF-8"
	}
	if detail := textFault(e.Value.Reveal()); detail != "" {
		return "the value " + detail
	}
	return ""
}
