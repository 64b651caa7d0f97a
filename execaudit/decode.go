package execaudit

import (
	"net/url"
	"strings"

	"github.com/lanyard-dev/lanyard/envprecedence"
	"github.com/lanyard-dev/lanyard/redact"
)

// Details of the faults of one env parameter. None repeats what it is about:
// what has no '=' may well be a value.
const (
	detailForm      = "must be NAME=VALUE"
	detailEscape    = "must not contain a malformed percent escape"
	detailSemicolon = "must not contain an unescaped semicolon"
	detailControl   = "must not contain an unescaped control character"
)

// DecodeQuery returns the entries that the env parameters of rawQuery (the text
// after '?', as in url.URL.RawQuery) carry, in their order, duplicates kept; nil
// for none. Other parameters are not looked at, but for an env parameter that
// hides in one behind a semicolon.
//
// The error is Faults, every fault at once: under env[i], i counting env parameters from
// 0: no '=', an empty name, a malformed percent escape, an unescaped semicolon
// or control character, a NUL byte, invalid UTF-8; and under env: TooMany or
// TooLong over limits. When there is a fault the entries are nil. What lies past
// a limit is counted but not decoded, so the work is one pass over rawQuery and
// the memory is bounded by limits.
//
// Names are not checked against NamePattern; Validate does that.
//
// rawQuery must be what the client sent: url.URL.Query and http.Request.ParseForm
// leave out what they cannot read, and a server would run the command without it.
// Where only what they made of it is left, DecodeValues reads that.
//
// Source: KEP-6035, Kubelet. Strictness about escapes is beyond it: two parsers
// that split one query differently would be a way around validation.
func DecodeQuery(rawQuery string, limits Limits) ([]envprecedence.Entry, error) {
	envs, err := DecodePartly(rawQuery, limits)
	if err != nil {
		return nil, err
	}
	return envs, nil
}

// DecodePartly is DecodeQuery that, when there are faults, returns what could be
// read beside them: one entry per env parameter within limits, at its place, with
// an empty Name or Value where that one is at fault and both empty where nothing
// could be read. It is for finding more faults of a request that is refused
// already, to report them together; such entries must not be used.
func DecodePartly(rawQuery string, limits Limits) ([]envprecedence.Entry, error) {
	d := newDecoder(limits)
	for rest := rawQuery; rest != ""; {
		var segment string
		segment, rest, _ = strings.Cut(rest, "&")
		key, value, _ := strings.Cut(segment, "=")
		switch {
		case isQueryParam(key):
			d.add(value)
		case hidesQueryParam(segment):
			d.add(segment) // whose semicolon is the fault
		}
	}
	return d.result()
}

// DecodeValues is DecodeQuery for a query that was parsed already, as a conversion function of a
// runtime.Scheme gets it: the same entries in the same order, limits, faults and places, for every query that
// url.ParseQuery reads without an error and in which no control character stands raw (url.Parse refuses such a URL).
//
// What url.URL.Query leaves out cannot be seen any more, and the entries behind it move up: a malformed percent
// escape, an unescaped semicolon, and what that hides. Whoever uses DecodeValues refuses a request whose raw query
// url.ParseQuery returns an error for, or DecodeQuery does, where the raw query is at hand: http.Request.URL.RawQuery,
// in a filter of the API server's handler chain or in the handler that a Connecter returns.
//
// values is not changed. Source: KEP-6035, PodExecOptions API type.
func DecodeValues(values url.Values, limits Limits) ([]envprecedence.Entry, error) {
	d := newDecoder(limits)
	for _, text := range values[QueryParam] {
		d.addText(text)
	}
	envs, err := d.result()
	if err != nil {
		return nil, err
	}
	return envs, nil
}

// hidesQueryParam reports whether an env parameter stands behind a semicolon, which some
// parsers take for the end of a parameter, and for which others drop all of it.
func hidesQueryParam(segment string) bool {
	_, rest, more := strings.Cut(segment, ";")
	for more {
		var part string
		part, rest, more = strings.Cut(rest, ";")
		if key, _, _ := strings.Cut(part, "="); isQueryParam(key) {
			return true
		}
	}
	return false
}

type decoder struct {
	limits Limits
	hide   func(string) redact.Text
	envs   []envprecedence.Entry
	faults Faults
	count  int // env parameters seen
	bytes  int // names and values, as they are when decoded
}

func newDecoder(limits Limits) *decoder {
	return &decoder{limits: limits.orDefault(), hide: redact.Block(0)}
}

// add takes one parameter's escaped text.
func (d *decoder) add(escaped string) {
	i, within := d.next()
	if !within {
		return
	}
	size, detail := measure(escaped)
	switch {
	case detail != "":
		d.refuse(i, "", detail)
	case d.fits(size):
		d.envs[i] = d.split(i, unescape(escaped, size))
	}
}

// addText takes one parameter's text as it is when decoded.
func (d *decoder) addText(text string) {
	if i, within := d.next(); within && d.fits(len(text)) {
		d.envs[i] = d.split(i, text)
	}
}

// next makes room for one more entry, unless that is past the limit.
func (d *decoder) next() (i int, within bool) {
	d.count++
	if d.count > d.limits.Entries {
		return 0, false
	}
	d.envs = append(d.envs, envprecedence.Entry{})
	return d.count - 1, true
}

// fits counts size bytes and reports whether all so far are within the limit.
func (d *decoder) fits(size int) bool {
	d.bytes += max(size-1, 0) // less the '='; what has none is refused
	return d.bytes <= d.limits.Bytes
}

// split takes one parameter's text apart.
func (d *decoder) split(i int, text string) envprecedence.Entry {
	name, value, found := strings.Cut(text, "=")
	if !found {
		d.refuse(i, "", detailForm)
		return envprecedence.Entry{}
	}
	if name == "" {
		d.faults = append(d.faults, &Fault{Index: i, Field: "name", Kind: FaultRequired})
	} else if detail := textFault(name); detail != "" {
		d.refuse(i, "name", detail)
		name = ""
	}
	if detail := textFault(value); detail != "" {
		d.refuse(i, "value", detail)
		value = ""
	}
	return envprecedence.Entry{Name: name, Value: d.hide(value)}
}

func (d *decoder) refuse(i int, field, detail string) {
	d.faults = append(d.faults, &Fault{Index: i, Field: field, Kind: FaultInvalid, Detail: detail})
}

func (d *decoder) result() ([]envprecedence.Entry, error) {
	var whole Faults
	if d.count > d.limits.Entries {
		whole = append(whole, tooMany(d.count, d.limits.Entries))
	}
	if d.bytes > d.limits.Bytes {
		whole = append(whole, tooLong(d.limits.Bytes))
	}
	return d.envs, append(whole, d.faults...).err()
}
