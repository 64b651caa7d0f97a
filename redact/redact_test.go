package redact_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"

	"github.com/lanyard-dev/lanyard/redact"
)

const sesame = "open-sesame-4711"

// holder hides a value where fmt cannot call its methods.
type holder[T any] struct{ hidden T }

// nestings returns the value alone and inside what people print.
func nestings[T any](value T) map[string]any {
	return map[string]any{
		"alone":            value,
		"pointer":          &value,
		"exported field":   struct{ Token T }{value},
		"unexported field": holder[T]{value},
		"embedded pointer": struct{ *holder[T] }{&holder[T]{value}},
		"slice":            []T{value},
		"map":              map[string]T{"a": value},
		"any in slice":     []any{value, holder[T]{value}},
	}
}

func TestNothingIsShown(t *testing.T) {
	all := map[string]map[string]any{
		"Text": nestings(redact.New(sesame)), "Bytes": nestings(redact.NewBytes([]byte(sesame))), "Texts": nestings(redact.Texts(sesame, sesame)),
	}
	for kind, values := range all {
		for name, value := range values {
			t.Run("MOD-9 ECR-28 "+kind+", "+name, func(t *testing.T) {
				for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d", "%t", "%c", "%10.3s"} {
					mustNotHold(t, fmt.Sprintf(verb, value))
				}
				if data, err := json.Marshal(value); err == nil {
					mustNotHold(t, string(data))
				}
				var out bytes.Buffer
				for _, handler := range []slog.Handler{slog.NewTextHandler(&out, nil), slog.NewJSONHandler(&out, nil)} {
					slog.New(handler).Info("login", "token", value, "group", slog.GroupValue(slog.Any("t", value)))
				}
				mustNotHold(t, out.String())
			})
		}
	}
}

// Login has fields that encoders reach.
type Login struct {
	Token redact.Text
	Body  redact.Bytes
	None  redact.Text `json:"none,omitzero"`
}

func TestEncoders(t *testing.T) {
	field := Login{Token: redact.New(sesame), Body: redact.NewBytes([]byte(sesame))}
	t.Run("MOD-9 JSON has the mark in place of the content", func(t *testing.T) {
		data, err := json.Marshal(field)
		if got, want := string(data), `{"Token":"[redacted]","Body":"[redacted]"}`; err != nil || got != want {
			t.Errorf("json.Marshal(…) = %s, %v, want %s", got, err, want)
		}
	})
	t.Run("MOD-9 text encoders write the mark", func(t *testing.T) {
		data, err := xml.Marshal(field)
		if err != nil || strings.Count(string(data), redact.Mark) != 3 {
			t.Errorf("xml.Marshal(…) = %s, %v, want three marks", data, err)
		}
		mustNotHold(t, string(data))
	})
}

func TestContent(t *testing.T) {
	t.Run("Reveal returns the content", func(t *testing.T) {
		if got := redact.New(sesame).Reveal(); got != sesame {
			t.Errorf("New(%q).Reveal() = %q", sesame, got)
		}
		if got := redact.NewBytes([]byte(sesame)).Reveal(); string(got) != sesame {
			t.Errorf("NewBytes(%q).Reveal() = %q", sesame, got)
		}
	})
	t.Run("the zero value is empty and shows like any other", func(t *testing.T) {
		var text redact.Text
		var content redact.Bytes
		if text.Reveal() != "" || !text.IsEmpty() || text.String() != redact.Mark || !text.Equal(redact.New("")) {
			t.Errorf("the zero Text is %q, %v, %s", text.Reveal(), text.IsEmpty(), text)
		}
		if content.Reveal() != nil || !content.IsEmpty() || content.String() != redact.Mark || !content.Equal(redact.NewBytes(nil)) {
			t.Errorf("the zero Bytes are %q, %v, %s", content.Reveal(), content.IsEmpty(), content)
		}
	})
	t.Run("Texts and Reveal are each other's inverse", func(t *testing.T) {
		source := []string{"get-token", "", "--secret"}
		texts := redact.Texts(source...)
		source[0] = "changed"
		if got, want := redact.Reveal(texts), []string{"get-token", "", "--secret"}; !slices.Equal(got, want) {
			t.Errorf("Reveal(Texts(%q)) = %q", want, got)
		}
		if redact.Texts() != nil || redact.Reveal(nil) != nil || !texts[1].IsEmpty() {
			t.Error("of nothing comes something")
		}
	})
}

func TestBlock(t *testing.T) {
	t.Run("texts of a block are independent, also of those in the next block", func(t *testing.T) {
		for _, room := range []int{0, 1, 3, 100} {
			hide := redact.Block(room)
			var texts []redact.Text
			var want []string
			for i := range 50 {
				text := strings.Repeat("x", i%7)
				texts, want = append(texts, hide(text)), append(want, text)
			}
			if got := redact.Reveal(texts); !slices.Equal(got, want) || !texts[0].IsEmpty() {
				t.Errorf("a block for %d reveals %q, want %q", room, got, want)
			}
		}
	})
	t.Run("MOD-9 neither a text nor the function that makes them shows", func(t *testing.T) {
		hide := redact.Block(4)
		values := []any{hide(sesame), hide, struct{ hide any }{hide}}
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d", "%t"} {
			mustNotHold(t, fmt.Sprintf(verb, values))
		}
	})
	t.Run("one allocation for all", func(t *testing.T) {
		source := make([]string, 256)
		for i := range source {
			source[i] = sesame
		}
		texts := make([]redact.Text, len(source))
		got := testing.AllocsPerRun(20, func() {
			hide := redact.Block(len(source))
			for i, s := range source {
				texts[i] = hide(s)
			}
		})
		if got > 1 {
			t.Errorf("%v allocations for %d texts, want one", got, len(source))
		}
	})
}

func mustNotHold(t *testing.T, text string) {
	t.Helper()
	numbers := strings.Trim(fmt.Sprint([]byte(sesame)), "[]")
	encoded := base64.StdEncoding.EncodeToString([]byte(sesame))[:12]
	for _, form := range []string{sesame, fmt.Sprintf("%x", sesame), fmt.Sprintf("%X", sesame), numbers, encoded} {
		if strings.Contains(text, form) {
			t.Errorf("the output holds the secret: %s", text)
		}
	}
}
