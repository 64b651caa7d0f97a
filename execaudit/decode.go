package execaudit

import (
	"strings"
	"unicode/utf8"

	"k8s.io/apimachinery/pkg/util/validation/field"
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
// for none. Other parameters are not looked at.
//
// It reports every fault at once, under env[i], i counting env parameters from
// 0: no '=', an empty name, a malformed percent escape, an unescaped semicolon
// or control character, a NUL byte, invalid UTF-8; and under env: TooMany or
// TooLong over limits. When there is a fault the entries are nil. What lies past
// a limit is counted but not decoded, so the work is one pass over rawQuery and
// the memory is bounded by limits.
//
// Names are not checked against NamePattern; Validate does that.
//
// Source: KEP-6035, Kubelet. Strictness about escapes is beyond it: two parsers
// that split one query differently would be a way around validation.
func DecodeQuery(rawQuery string, limits Limits) ([]Env, field.ErrorList) {
	d := decoder{limits: limits.orDefault(), path: field.NewPath(QueryParam)}
	for rest := rawQuery; rest != ""; {
		var segment string
		segment, rest, _ = strings.Cut(rest, "&")
		key, value, _ := strings.Cut(segment, "=")
		if isQueryParam(key) {
			d.add(value)
		}
	}
	return d.result()
}

type decoder struct {
	limits Limits
	path   *field.Path
	envs   []Env
	faults field.ErrorList
	count  int // env parameters seen
	bytes  int // names and values, as they are when decoded
}

// add takes one parameter's escaped text.
func (d *decoder) add(escaped string) {
	i := d.count
	d.count++
	if d.count > d.limits.Entries {
		return
	}
	size, detail := measure(escaped)
	if detail != "" {
		d.refuse(d.path.Index(i), detail)
		return
	}
	d.bytes += max(size-1, 0) // less the '='; what has none is refused below
	if d.bytes <= d.limits.Bytes {
		d.split(i, unescape(escaped, size))
	}
}

// split takes one parameter's text apart.
func (d *decoder) split(i int, text string) {
	name, value, found := strings.Cut(text, "=")
	switch {
	case !found:
		d.refuse(d.path.Index(i), detailForm)
	case name == "":
		d.faults = append(d.faults, field.Required(d.path.Index(i).Child("name"), ""))
	case strings.IndexByte(name, 0) >= 0:
		d.refuse(d.path.Index(i).Child("name"), detailNUL)
	case !utf8.ValidString(name):
		d.refuse(d.path.Index(i).Child("name"), detailUTF8)
	default:
		if detail := valueFault(value); detail != "" {
			d.refuse(d.path.Index(i).Child("value"), detail)
		}
		d.envs = append(d.envs, Env{Name: name, Value: value})
	}
}

func (d *decoder) refuse(path *field.Path, detail string) {
	d.faults = append(d.faults, field.Invalid(path, field.OmitValueType{}, detail))
}

func (d *decoder) result() ([]Env, field.ErrorList) {
	var whole field.ErrorList
	if d.count > d.limits.Entries {
		whole = append(whole, field.TooMany(d.path, d.count, d.limits.Entries))
	}
	if d.bytes > d.limits.Bytes {
		whole = append(whole, field.TooLong(d.path, nil, d.limits.Bytes))
	}
	if faults := append(whole, d.faults...); len(faults) > 0 {
		return nil, faults
	}
	return d.envs, nil
}
