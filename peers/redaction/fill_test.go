package redaction

import (
	"fmt"
	"reflect"
	"strings"
	"time"
	"unsafe"

	"github.com/lanyard-dev/lanyard/redact"
)

// maxDepth bounds how deep values are nested, since types may hold themselves.
const maxDepth = 6

// filler makes values whose every string and byte field holds a marker of its own.
type filler struct {
	fields map[string]string // from the marker to the field, as "package.Type.Field"
	depth  int
}

// markerBytes is the length of a marker. Shorter arrays of bytes have no room for one, nor for a secret.
const markerBytes = 10

// marker returns a text that nothing else prints: letters only, so that no quoting changes it.
func (f *filler) marker(field string) string {
	n := len(f.fields)
	text := "zq"
	for range 6 {
		text += string(rune('a' + n%26))
		n /= 26
	}
	text += "qz"
	f.fields[text] = field
	return text
}

// fill sets v and what it holds; field names the struct field, or the type, that v stands in.
func (f *filler) fill(v reflect.Value, field string) {
	if f.depth++; f.depth > maxDepth {
		f.depth--
		return
	}
	defer func() { f.depth-- }()
	switch v.Type() {
	case reflect.TypeFor[time.Time]():
		return
	case reflect.TypeFor[redact.Text]():
		v.Set(reflect.ValueOf(redact.New(f.marker(field))))
		return
	case reflect.TypeFor[redact.Bytes]():
		v.Set(reflect.ValueOf(redact.NewBytes([]byte(f.marker(field)))))
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString(f.marker(field))
	case reflect.Slice:
		f.fillSlice(v, field)
	case reflect.Array:
		if v.Type().Elem().Kind() == reflect.Uint8 && v.Len() >= markerBytes {
			reflect.Copy(v, reflect.ValueOf([]byte(f.marker(field))))
			return
		}
		for i := range v.Len() {
			f.fill(v.Index(i), field)
		}
	case reflect.Map:
		f.fillMap(v, field)
	case reflect.Pointer:
		if f.depth < maxDepth {
			v.Set(reflect.New(v.Type().Elem()))
			f.fill(v.Elem(), field)
		}
	case reflect.Struct:
		f.fillStruct(v)
	case reflect.Interface:
		if v.Type() == reflect.TypeFor[error]() {
			v.Set(reflect.ValueOf(fmt.Errorf("%s", f.marker(field))))
		}
	}
}

func (f *filler) fillSlice(v reflect.Value, field string) {
	if v.Type().Elem().Kind() == reflect.Uint8 {
		v.Set(reflect.ValueOf([]byte(f.marker(field))).Convert(v.Type()))
		return
	}
	v.Set(reflect.MakeSlice(v.Type(), 1, 1))
	f.fill(v.Index(0), field)
}

func (f *filler) fillMap(v reflect.Value, field string) {
	key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
	f.fill(key, field+"(key)")
	f.fill(value, field)
	v.Set(reflect.MakeMap(v.Type()))
	v.SetMapIndex(key, value)
}

// fillStruct fills unexported fields too, since fmt prints them.
func (f *filler) fillStruct(v reflect.Value) {
	for i := range v.NumField() {
		field := v.Type().Field(i)
		target := v.Field(i)
		if !field.IsExported() {
			if foreign(v.Type()) {
				continue // its invariants are not ours to break
			}
			target = reflect.NewAt(field.Type, unsafe.Pointer(target.UnsafeAddr())).Elem()
		}
		f.fill(target, typeName(v.Type())+"."+field.Name)
	}
}

const house = "github.com/lanyard-dev/lanyard/"

func foreign(t reflect.Type) bool { return t.PkgPath() != "" && !strings.HasPrefix(t.PkgPath(), house) }

// typeName is the path below the house, or the whole one, with the type's name.
func typeName(t reflect.Type) string {
	return strings.TrimPrefix(t.PkgPath(), house) + "." + t.Name()
}
