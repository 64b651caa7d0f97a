package journal_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/lanyard-dev/lanyard/execaudit/journal"
)

// reference is Decode by encoding/json: slow, and right about everything but keys, which it is given one by one.
func reference(line []byte) (journal.Record, error) {
	var r journal.Record
	if !referenceDecode(line, &r) || !referenceBytes(line, &r) {
		return journal.Record{}, journal.ErrNotJSON
	}
	if err := r.Validate(); err != nil {
		return journal.Record{}, err
	}
	return r, nil
}

func referenceDecode(line []byte, r *journal.Record) bool {
	if !json.Valid(line) {
		return false
	}
	d := json.NewDecoder(bytes.NewReader(line))
	begin, err := d.Token()
	if err != nil || begin == nil { // null is a record without fields
		return err == nil
	}
	if begin != json.Delim('{') {
		return false
	}
	seen := map[any]bool{}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return false
		}
		into := fieldOf(reflect.ValueOf(r).Elem(), key.(string))
		if key == "bytes" {
			into = new(map[string]any)
		}
		if into != nil && seen[key] {
			return false
		}
		if into == nil {
			into = new(json.RawMessage)
		}
		if d.Decode(into) != nil {
			return false
		}
		seen[key] = true
	}
	return true
}

// referenceBytes puts the bytes of texts that are not UTF-8 into a record, of a line that referenceDecode took.
func referenceBytes(line []byte, r *journal.Record) bool {
	var with struct {
		Bytes json.RawMessage `json:"bytes"`
	}
	if bytes.TrimSpace(line)[0] == 'n' || json.Unmarshal(exactly(line, "bytes"), &with) != nil || with.Bytes == nil {
		return true
	}
	d := json.NewDecoder(bytes.NewReader(with.Bytes))
	if _, err := d.Token(); err != nil {
		return false
	}
	seen := map[any]bool{}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return false
		}
		var raw json.RawMessage
		if d.Decode(&raw) != nil {
			return false
		}
		into := fieldOf(reflect.ValueOf(r).Elem(), key.(string))
		text, isText := into.(*string)
		words, isWords := into.(*[]string)
		switch {
		case !isText && !isWords:
			continue
		case seen[key]:
			return false
		case isText && !referenceText(raw, text), isWords && !referenceWords(raw, *words):
			return false
		}
		seen[key] = true
	}
	return true
}

func referenceWords(raw json.RawMessage, words []string) bool {
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) != nil || list == nil || len(list) != len(words) {
		return false
	}
	for i, word := range list {
		if string(word) != "null" && !referenceText(word, &words[i]) {
			return false
		}
	}
	return true
}

func referenceText(raw json.RawMessage, text *string) bool {
	var encoded *string
	if json.Unmarshal(raw, &encoded) != nil || encoded == nil || bytes.ContainsRune(raw, '\\') || !utf8.Valid(raw) {
		return false
	}
	b, err := base64.StdEncoding.Strict().DecodeString(*encoded)
	if err != nil || strings.ContainsAny(*encoded, "\r\n") || utf8.Valid(b) || strings.Map(func(r rune) rune { return r }, string(b)) != *text {
		return false
	}
	*text = string(b)
	return true
}

// exactly leaves of an object the members of this key.
func exactly(line []byte, key string) []byte {
	d := json.NewDecoder(bytes.NewReader(line))
	_, _ = d.Token()
	out := []byte("{}")
	for d.More() {
		name, err := d.Token()
		var value json.RawMessage
		if err != nil || d.Decode(&value) != nil {
			break
		}
		if name == key {
			out = fmt.Appendf(nil, "{%q:%s}", key, value)
		}
	}
	return out
}

// fieldOf returns a pointer to the field of this key, nil for none.
func fieldOf(v reflect.Value, key string) any {
	for i := range v.NumField() {
		field := v.Type().Field(i)
		if field.Anonymous {
			if into := fieldOf(v.Field(i), key); into != nil {
				return into
			}
			continue
		}
		if name, _, _ := strings.Cut(field.Tag.Get("json"), ","); name == key {
			return v.Field(i).Addr().Interface()
		}
	}
	return nil
}

// checkDecode wants a Decoder to do with a line what the reference does, whatever it did before.
func checkDecode(t interface{ Fatalf(string, ...any) }, used *journal.Decoder, line []byte) {
	before := bytes.Clone(line)
	want, wantErr := reference(line)
	got := journal.Record{Kind: "left over", Argv: []string{"left over"}}
	err := used.Decode(line, &got)
	if !reflect.DeepEqual(got, want) || fmt.Sprint(err) != fmt.Sprint(wantErr) {
		t.Fatalf("Decode(%q) = %+v, %v, want %+v, %v", line, got, err, want, wantErr)
	}
	if !bytes.Equal(line, before) {
		t.Fatalf("Decode changed %q into %q", before, line)
	}
}

const goodLine = `{"version":1,"kind":"end","time":"2026-11-21T04:10:00.25Z","node":"n","containerID":"c","execID":"e","exitCode":0,` +
	`"pid":7,"startTicks":8,"bootID":"b","sessionID":9,"loginUID":10,"argv":["sh","-c",""],"tty":true,"argvTruncated":false,"reason":"why","auditID":"a","execSession":"x",` +
	`"sandboxID":"s","namespace":"ns","pod":"p","podUID":"u","container":"k","later":{"field":[1,{"x":null}]}}`

// values are of every type, with what is at the edge of one.
var values = []string{
	"null", "true", "false", "0", "-0", "1", "-1", "01", "1.0", "1e3", "1E+2", "1e", "1.", ".5", "-", "+1", "2147483648", "4294967294", "4294967295", "4294967296",
	"9223372036854775807", "9223372036854775808", "18446744073709551615", "18446744073709551616", "nul", "nulll", "True", "truefalse",
	`""`, `"x"`, `"start"`, `"\u0073tart"`, `"intent"`, `"refusal"`, `"paused"`, `"\""`, `"\\"`, `"\/\b\f\n\r\t"`, `"\x"`, `"\"`, `"\u12"`, `"\u12zz"`, `"\u+123"`, `"\u00e9é"`,
	`"\ud83d\ude00"`, `"\ud83d"`, `"\ud83dx"`, `"\ud83d\u0041"`, `"\ude00\ud83d"`, `"\ud83d\ud83d\ude00"`, `"\ufffd"`, "\"\xff\xfe\"", "\"\xc3\"", "\"\xed\xa0\x80\"", "\"\x1f\"", "\"\x7f\"", "\"\t\"",
	"\"unended", `"ééééééééé longer than a word \\ and more"`, `"0123456\"9"`, `"01234567\n"`, "\"0123456\xff9abcdef\\u0041\"",
	`"2026-11-21T04:10:00Z"`, `"2026-11-21T04:10:00.123456789+05:30"`, `"2026-11-21T4:10:00Z"`, `"2026-11-21T04:10:00,5Z"`, `"2026-02-30T04:10:00Z"`, `"2026-11-21T04:10:00\u005a"`,
	`"2026-11-21t04:10:00z"`, `"0001-01-01T00:00:00Z"`, `"9999-12-31T23:59:59Z"`, `"10000-01-01T00:00:00Z"`, `"2026-11-21T04:10:60Z"`, `"2026-11-21T04:10:00+24:00"`, `"2026-11-21T04:10:00-00:00"`,
	"[]", "[ ]", `["a"]`, `["a","b","c","d","e","f","g","h","i"]`, `[null]`, `["a",null,""]`, `["a",1]`, `["a",]`, `[,]`, `["a" "b"]`, "[", "]", "[[]]", "{}", `{"a":1}`, `{"a":1,}`, `{"a"}`, `{a:1}`, `{"a":1,"a":2}`,
	strings.Repeat("[", 9_999) + strings.Repeat("]", 9_999), strings.Repeat("[", 10_000) + strings.Repeat("]", 10_000),
	strings.Repeat(`{"a":`, 9_999) + "1" + strings.Repeat("}", 9_999), strings.Repeat(`{"a":`, 10_000) + "1" + strings.Repeat("}", 10_000),
	`{"auditID":"/w=="}`, `{"execSession":"/w=="}`, `{"auditID":"/w==","auditID":"/w=="}`, `{"argv":["/w=="]}`, `{"argv":[null,null,null]}`, `{"reason":"YQ=="}`, `{"reason":null}`, `{"later":1}`,
	" 1", "1 ", "\t1", "\v1", "\u00a01", "1 1", "/*x*/1",
}

var keys = []string{
	"version", "kind", "time", "argv", "argvTruncated", "tty", "exitCode", "reason", "pid", "startTicks", "bootID", "sessionID", "loginUID", "node", "containerID", "execID",
	"auditID", "execSession", "sandboxID", "namespace", "pod", "podUID", "container", "later", "", "VERSION", "execid", "bytes", `\u212aind`, `\u0065xecID`, `no\de`, "n\xffde", `pod\u0055ID`, "Session",
}

func TestDecode(t *testing.T) {
	var d journal.Decoder
	t.Run("EXA-39 Decode takes what encoding/json takes, key by key and value by value", func(t *testing.T) {
		checkDecode(t, &d, []byte(goodLine))
		for _, key := range keys {
			for _, value := range values {
				member := fmt.Sprintf(`"%s":%s`, key, value)
				checkDecode(t, &d, []byte("{"+member+"}"))
				checkDecode(t, &d, []byte(strings.TrimSuffix(goodLine, "}")+","+member+"}")) // twice, if known
				for _, plain := range []string{`"` + key + `":`, `"later":`} {
					if at := strings.Index(goodLine, plain); at >= 0 { // in the place of the good value
						rest := goodLine[at+len(plain):]
						var old json.RawMessage
						if err := json.NewDecoder(strings.NewReader(rest)).Decode(&old); err != nil {
							t.Fatal(err)
						}
						checkDecode(t, &d, []byte(goodLine[:at]+plain+value+rest[len(old):]))
					}
				}
			}
		}
	})
	t.Run("EXA-39 Decode takes what encoding/json takes, whatever the line", func(t *testing.T) {
		for _, line := range []string{
			"", " ", "null", " null ", "nul", "nullx", "1", `"x"`, "[]", "{}", " { } ", "{}x", "{} {}", "{,}", "{", "}", `{"version"}`, `{"version":}`, `{"version" 1}`, `{"version":1 "kind":"end"}`,
			"\r\n" + goodLine + "\t ", goodLine + goodLine, "\xef\xbb\xbf" + goodLine, "\x00" + goodLine, goodLine + "\x00", strings.ReplaceAll(goodLine, ":", " : "), strings.ReplaceAll(goodLine, ",", " ,\n"),
		} {
			checkDecode(t, &d, []byte(line))
		}
		for cut := range goodLine {
			checkDecode(t, &d, []byte(goodLine[:cut]))
			checkDecode(t, &d, []byte(goodLine[cut:]))
			for _, b := range "\x00\\\"{}[]:,0 \x80" {
				checkDecode(t, &d, []byte(goodLine[:cut]+string(b)+goodLine[cut+1:]))
				checkDecode(t, &d, []byte(goodLine[:cut]+string(b)+goodLine[cut:]))
			}
		}
	})
	t.Run("texts are copies, and stay what they were when more lines are read", func(t *testing.T) {
		want, err := reference([]byte(goodLine))
		if err != nil {
			t.Fatal(err)
		}
		var d journal.Decoder
		var kept []journal.Record
		for i := range 500 { // more than a block's worth
			line := []byte(goodLine)
			if i%2 == 1 {
				line = bytes.ReplaceAll(line, []byte(`"auditID":"a"`), []byte(`"auditID":"`+strings.Repeat("é", i*20)+`"`))
			}
			var r journal.Record
			if err := d.Decode(line, &r); err != nil {
				t.Fatal(err)
			}
			clear(line)
			kept = append(kept, r)
		}
		for i, r := range kept {
			want := want
			if i%2 == 1 {
				want.AuditID = strings.Repeat("é", i*20)
			}
			if !reflect.DeepEqual(r, want) {
				t.Fatalf("record %d became %+v", i, r)
			}
		}
	})
}
