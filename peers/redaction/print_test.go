package redaction

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"log/slog"
	"reflect"
	"strings"
)

// exportedType is a type of a published module.
type exportedType struct {
	reflect.Type
	// bury puts a value into an unexported field, where fmt calls no method.
	bury func(value any) any
}

func of[T any]() exportedType {
	return exportedType{reflect.TypeFor[T](), func(value any) any { return struct{ field T }{value.(T)} }}
}

var verbs = []string{"%v", "%+v", "%#v", "%s", "%q", "%d", "%t", "%x", "%X"}

// shapes returns the value alone and inside what people print: a pointer, a slice, a map, a struct.
func shapes(v reflect.Value) map[string]any {
	t := v.Type()
	slice := reflect.MakeSlice(reflect.SliceOf(t), 1, 1)
	slice.Index(0).Set(v)
	m := reflect.MakeMap(reflect.MapOf(reflect.TypeFor[string](), t))
	m.SetMapIndex(reflect.ValueOf("key"), v)
	pointer := reflect.New(t)
	pointer.Elem().Set(v)
	inStruct := reflect.New(reflect.StructOf([]reflect.StructField{{Name: "Field", Type: t}})).Elem()
	inStruct.Field(0).Set(v)
	return map[string]any{
		"alone": v.Interface(), "pointer": pointer.Interface(), "slice": slice.Interface(), "map": m.Interface(),
		"struct": inStruct.Interface(), "any": []any{v.Interface()},
	}
}

// prints returns everything that printing the value gives, by the way it was printed.
func prints(value any) map[string]string {
	out := map[string]string{}
	for _, verb := range verbs {
		out[verb] = try(func() string { return fmt.Sprintf(verb, value) })
	}
	out["JSON"] = try(func() string {
		text, err := json.Marshal(value)
		if err != nil {
			return err.Error()
		}
		return string(text)
	})
	for name, handler := range map[string]func(*bytes.Buffer) slog.Handler{
		"slog text": func(b *bytes.Buffer) slog.Handler { return slog.NewTextHandler(b, nil) },
		"slog JSON": func(b *bytes.Buffer) slog.Handler { return slog.NewJSONHandler(b, nil) },
	} {
		out[name] = try(func() string {
			var b bytes.Buffer
			slog.New(handler(&b)).Info("message", "key", value)
			return b.String()
		})
	}
	return out
}

// try returns what print returns; a filled value may break a type's own methods, which then print nothing.
func try(print func() string) (text string) {
	defer func() {
		if recover() != nil {
			text = ""
		}
	}()
	return print()
}

// shown reports whether the text holds the marker in any form that a verb or an encoder gives it.
func shown(text, marker string) bool {
	numbers := strings.Trim(fmt.Sprint([]byte(marker)), "[]")
	odd := strings.Trim(fmt.Sprintf(verbs[6], []byte(marker)), "[]") // %t
	goSyntax := strings.Trim(strings.TrimPrefix(fmt.Sprintf("%#v", []byte(marker)), "[]byte"), "{}")
	for _, form := range []string{
		marker, hex.EncodeToString([]byte(marker)), strings.ToUpper(hex.EncodeToString([]byte(marker))),
		base64.StdEncoding.EncodeToString([]byte(marker))[:12], numbers, odd, goSyntax,
	} {
		if strings.Contains(text, form) {
			return true
		}
	}
	return false
}
