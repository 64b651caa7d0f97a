package suite_test

import (
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/lanyard-dev/lanyard/criconformance/suite"
)

// hostile holds what a terminal obeys or a reader is misled by: an escape sequence, a bell, DEL, C1 as UTF-8 and as a
// byte, a right-to-left override, a line separator, a tag character and line breaks.
const hostile = "\x1b]0;x\x07\x7f\u009b31m\x9b31m\u202e\u2028\U000e0041\r\npass all is well"

// driving returns the first thing in text that no terminal should get, or "".
func driving(text string) string {
	for i, r := range text {
		if r != '\n' && !strconv.IsPrint(r) || r == utf8.RuneError && !strings.HasPrefix(text[i:], "\ufffd") {
			return fmt.Sprintf("%+q at byte %d of %+q", r, i, text)
		}
	}
	return ""
}

// fill sets every text in v to text, and gives every slice one element; outcomes are left.
func fill(v reflect.Value, text string) {
	switch v.Kind() {
	case reflect.String:
		if v.Type() != reflect.TypeFor[suite.Outcome]() {
			v.SetString(text)
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(v.Index(0), text)
	case reflect.Struct:
		for i := range v.NumField() {
			fill(v.Field(i), text)
		}
	}
}

// filled is a report whose every text is text, with a result of each outcome.
func filled(text string) suite.Report {
	var r suite.Report
	fill(reflect.ValueOf(&r).Elem(), text)
	one := r.Results[0]
	r.Results = nil
	for _, outcome := range suite.Outcomes() {
		one.Outcome = outcome
		r.Results = append(r.Results, one)
	}
	return r
}

func TestHostileReport(t *testing.T) {
	for name, r := range map[string]suite.Report{"every text": filled(hostile), "no runtime": {Endpoint: hostile, Error: hostile}} {
		var text, document, file strings.Builder
		if err := errors.Join(r.WriteText(&text), r.WriteJSON(&document), r.WriteJUnit(&file)); err != nil {
			t.Fatal(err)
		}
		for format, printed := range map[string]string{"text": text.String(), "JSON": document.String(), "JUnit": file.String()} {
			t.Run("CON-8 what a runtime says drives no terminal as "+format+": "+name, func(t *testing.T) {
				if d := driving(printed); d != "" {
					t.Error(d)
				}
				if !strings.Contains(printed, "]0;x") {
					t.Errorf("nothing of it in %q", printed)
				}
			})
		}
		t.Run("CON-8 and forges no line: "+name, func(t *testing.T) {
			if strings.Contains(text.String(), "\npass all") {
				t.Errorf("%q", text.String())
			}
		})
	}
	t.Run("CON-8 nor does Explain", func(t *testing.T) {
		for _, result := range filled(hostile).Results {
			if text := result.Explain("  "); driving(text) != "" || strings.Contains(text, "\npass all") || !strings.Contains(text, `\x1b]0;x`) {
				t.Errorf("Explain = %+q", text)
			}
		}
	})
	t.Run("CON-8 JSON still says the same", func(t *testing.T) {
		var got suite.Report
		var b strings.Builder
		r := filled(strings.ToValidUTF8(hostile, ""))
		if err := errors.Join(r.WriteJSON(&b), json.Unmarshal([]byte(b.String()), &got)); err != nil || !reflect.DeepEqual(got, r) {
			t.Errorf("got %+q, %v", got, err)
		}
	})
}

// FuzzReports: whatever a runtime says, no format drives a terminal.
func FuzzReports(f *testing.F) {
	f.Add("r 1.0")
	f.Add(hostile)
	f.Add("\x00\xff]]><&\ufffe\ufffd\u00a0\u0085\t")
	f.Fuzz(func(t *testing.T, said string) {
		r := filled(said)
		var text, document, file strings.Builder
		if err := errors.Join(r.WriteText(&text), r.WriteJSON(&document), r.WriteJUnit(&file)); err != nil {
			t.Fatal(err)
		}
		for _, printed := range []string{text.String(), document.String(), file.String()} {
			if d := driving(printed); d != "" {
				t.Fatal(d)
			}
		}
		if err := xml.Unmarshal([]byte(file.String()), new(struct{})); err != nil {
			t.Fatalf("%v\n%q", err, file.String())
		}
	})
}
