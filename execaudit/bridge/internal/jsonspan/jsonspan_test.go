package jsonspan_test

import (
	"testing"

	"github.com/lanyard-dev/lanyard/execaudit/bridge/internal/jsonspan"
)

func TestNumbers(t *testing.T) {
	for text, want := range map[string]uint64{"0": 0, "18446744073709551615": 1<<64 - 1, "12": 12} {
		at, err := jsonspan.Parse([]byte(text))
		if got, ok := jsonspan.Uint([]byte(text), at); err != nil || !ok || got != want {
			t.Errorf("Uint(%s) = %d, %t, %v", text, got, ok, err)
		}
	}
	for _, text := range []string{"18446744073709551616", "-1", "1.0", "1e3", `"1"`, "null"} {
		at, err := jsonspan.Parse([]byte(text))
		if got, ok := jsonspan.Uint([]byte(text), at); err != nil || ok {
			t.Errorf("Uint(%s) = %d, %t, %v", text, got, ok, err)
		}
	}
}

func TestObject(t *testing.T) {
	var o jsonspan.Object
	if got := string(o.Line()); got != "{}\n" {
		t.Errorf("an empty object is %q", got)
	}
	o.String("a", "\x01")
	o.Strings("b", nil)
	o.Strings("c", []string{"x", "y"})
	o.Uint("d", 7)
	o.Bool("e", true)
	if got, want := string(o.Line()), `{"a":"\u0001","b":[],"c":["x","y"],"d":7,"e":true}`+"\n"; got != want {
		t.Errorf("an object is %s, want %s", got, want)
	}
}
