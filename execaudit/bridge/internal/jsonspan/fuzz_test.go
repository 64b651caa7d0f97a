package jsonspan_test

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/lanyard-dev/lanyard/execaudit/bridge/internal/jsonspan"
)

// FuzzParse: what is JSON, and what its parts are, is what encoding/json says.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		``, ` `, `{}`, `[]`, `[1,]`, `{"a":1,}`, `{"a":[{"b":null},true,false,-0.5e+7]}`, `"\ud83d\ude00\ud800\u0041\""`, "\"\xff\xed\xa0\x80\"", `01`, `-`, `1.`, `1e`,
		`nul`, `{"a" 1}`, `{1:2}`, `[[[[]]]]`, ` { "k" : [ "v" , { } ] } `, `"\x"`, `"\u12"`, "\"\n\"", `[1 2]`, `]`, `{"a":}`, strings.Repeat("[", 999) + strings.Repeat("]", 999),
		strings.Repeat("[", 1001) + strings.Repeat("]", 1001), `{"a":"\b\f\n\r\t\/\\"}`, `[{"a":1},{"a":[]}]`, `{"a":{}}`, `[1]]`, `{"":""}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		root, err := jsonspan.Parse(text)
		if errors.Is(err, jsonspan.ErrDepth) {
			return
		}
		if valid := json.Valid(text); valid != (err == nil) {
			t.Fatalf("Parse(%q) = %v, encoding/json says %t", text, err, valid)
		}
		if err == nil {
			same(t, text, root)
		}
	})
}

// same compares a value with what encoding/json decodes.
func same(t *testing.T, text []byte, at jsonspan.Span) {
	t.Helper()
	raw := at.Of(text)
	switch {
	case jsonspan.IsObject(text, at):
		var want map[string]json.RawMessage
		if err := json.Unmarshal(raw, &want); err != nil {
			t.Fatalf("%q: %v", raw, err)
		}
		got := map[string]string{}
		for name, member := range jsonspan.Members(text, at) {
			got[name] = string(member.Of(text)) // the last of several, as there
			same(t, text, member)
		}
		for name, value := range want {
			if got[name] != string(value) {
				t.Errorf("member %q of %q is %q, want %q", name, raw, got[name], value)
			}
		}
		if len(got) != len(want) {
			t.Errorf("%d members of %q, want %d", len(got), raw, len(want))
		}
	case jsonspan.IsArray(text, at):
		var want []json.RawMessage
		if err := json.Unmarshal(raw, &want); err != nil {
			t.Fatalf("%q: %v", raw, err)
		}
		var got []string
		for element := range jsonspan.Elements(text, at) {
			got = append(got, string(element.Of(text)))
			same(t, text, element)
		}
		if !slices.EqualFunc(got, want, func(a string, b json.RawMessage) bool { return a == string(b) }) {
			t.Errorf("elements of %q are %q, want %q", raw, got, want)
		}
	default:
		var want any
		if err := json.Unmarshal(raw, &want); err != nil {
			return // a number beyond float64
		}
		value, isString := jsonspan.String(text, at)
		if text, ok := want.(string); ok != isString || text != value {
			t.Errorf("%q is %q, want %q", raw, value, want)
		}
		flag, isBool := jsonspan.Bool(text, at)
		if want, ok := want.(bool); ok != isBool || want != flag {
			t.Errorf("%q is %t, want %t", raw, flag, want)
		}
	}
}

// FuzzString: a string that is written is read again, by encoding/json too.
func FuzzString(f *testing.F) {
	for _, seed := range []string{"", "a", "\"\\\x00\x1f\x7f", "é\u2028😀", "\xff\xed\xa0\x80"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, value string) {
		text := jsonspan.AppendString(nil, value)
		want := string([]rune(value)) // U+FFFD for each byte that is not valid
		var got string
		if err := json.Unmarshal(text, &got); err != nil || got != want {
			t.Errorf("%s is %q, %v, want %q", text, got, err, want)
		}
		if got, ok := jsonspan.String(text, jsonspan.Span{Start: 0, End: len(text)}); !ok || got != want {
			t.Errorf("String(%s) = %q, %t, want %q", text, got, ok, want)
		}
	})
}
