package transport

import (
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/lanyard-dev/lanyard/execcredential"
)

// Headers of Kubernetes' user impersonation.
const (
	impersonateUser  = "Impersonate-User"
	impersonateUID   = "Impersonate-Uid"
	impersonateGroup = "Impersonate-Group"
	impersonateExtra = "Impersonate-Extra-"
)

// impersonation is the headers of an [execcredential.Impersonation]; nil is none.
type impersonation http.Header

func newImpersonation(as execcredential.Impersonation) impersonation {
	if as.IsZero() {
		return nil
	}
	header := http.Header{impersonateUser: {as.Name}}
	if as.UID != "" {
		header[impersonateUID] = []string{as.UID}
	}
	if len(as.Groups) > 0 {
		header[impersonateGroup] = slices.Clone(as.Groups)
	}
	for name, values := range as.Extra {
		for _, value := range values {
			header.Add(impersonateExtra+escapeName(name), value)
		}
	}
	return impersonation(header)
}

// apply returns the request itself, or a copy that acts as whom the headers name. A request that names somebody is left
// alone.
func (i impersonation) apply(req *http.Request) *http.Request {
	if i == nil || len(req.Header[impersonateUser]) > 0 {
		return req
	}
	header := maps.Clone(req.Header)
	if header == nil {
		header = http.Header{}
	}
	for name, values := range i {
		header[name] = slices.Clip(values) // whoever adds to them must not add to every request's
	}
	copied := new(http.Request)
	*copied = *req
	copied.Header = header
	return copied
}

// escapeName returns name with every byte percent-encoded that a header's name cannot hold, and the percent sign: API
// servers decode it.
func escapeName(name string) string {
	const digits, marks = "0123456789ABCDEF", "!#$&'*+-.^_`|~"
	var escaped strings.Builder
	for i := range len(name) {
		switch c := name[i]; {
		case '0' <= c && c <= '9', 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', strings.IndexByte(marks, c) >= 0:
			escaped.WriteByte(c)
		default:
			escaped.Write([]byte{'%', digits[c>>4], digits[c&15]})
		}
	}
	return escaped.String()
}
