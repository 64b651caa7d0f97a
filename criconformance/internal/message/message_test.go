package message_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/lanyard-dev/lanyard/criconformance/internal/message"
	"github.com/lanyard-dev/lanyard/envprecedence"
)

func TestParse(t *testing.T) {
	t.Run("CON-2 every message comes back, whatever bytes its values have", func(t *testing.T) {
		rapid.Check(t, func(t *rapid.T) {
			var want message.Message
			for range rapid.IntRange(1, 5).Draw(t, "entries") {
				value := rapid.SliceOfN(rapid.Byte(), 0, 20).Draw(t, "value")
				want.Self.Env = append(want.Self.Env, envprecedence.NewEntry(rapid.StringMatching(`[A-Z]+`).Draw(t, "name"), string(value)))
			}
			want.Self.Groups = rapid.SliceOfN(rapid.Int64(), 1, 5).Draw(t, "groups")
			var b bytes.Buffer
			if err := message.Write(&b, want); err != nil {
				t.Fatal(err)
			}
			// A terminal adds carriage returns.
			got, err := message.Parse(bytes.ReplaceAll(b.Bytes(), []byte("\n"), []byte("\r\n")))
			if err != nil || !reflect.DeepEqual(got, want) {
				t.Fatalf("Parse = %+v, %v, want %+v", got, err, want)
			}
		})
	})
	t.Run("MOD-9 a message shows without values, by fmt and in JSON", func(t *testing.T) {
		m := message.Message{Self: message.Process{Env: []envprecedence.Entry{envprecedence.NewEntry("TOKEN", "hunter2")}}}
		text, err := json.Marshal(m)
		for _, shown := range []string{string(text), fmt.Sprintf("%v %+v %#v", m, m, m)} {
			if err != nil || strings.Contains(shown, "hunter2") || strings.Contains(shown, "aHVudGVyMg") || !strings.Contains(shown, "TOKEN") {
				t.Errorf("a message shows as %s, %v", shown, err)
			}
		}
	})
	t.Run("CON-5 more than its bound is refused", func(t *testing.T) {
		if _, err := message.Parse(make([]byte, message.MaxBytes+1)); err == nil {
			t.Error("no error")
		}
	})
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"self":{"env":[{"name":"A","value":"/w=="}]}}` + "\r\n"))
	f.Add([]byte(""))
	f.Add([]byte("OCI runtime exec failed"))
	f.Fuzz(func(t *testing.T, b []byte) {
		m, err := message.Parse(b)
		if err != nil {
			return
		}
		for _, v := range m.Self.Env {
			if !slices.Contains(m.Self.Values(v.Name), v.Value.Reveal()) {
				t.Fatalf("Values(%q) lacks one", v.Name)
			}
		}
	})
}
