package token_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/lanyard-dev/lanyard/execaudit/bridge"
	"github.com/lanyard-dev/lanyard/execaudit/bridge/token"
)

func TestKeyIsRedacted(t *testing.T) {
	key := token.NewKey()
	secret := strings.TrimPrefix(key.Reveal(), "lanyard-exec-key:1:")
	raw, err := base64.RawURLEncoding.DecodeString(secret)
	if err != nil {
		t.Fatal(err)
	}
	// Without brackets: the seed is the beginning of ed25519's private key.
	hidden := []string{secret, strings.Trim(fmt.Sprint(raw), "[]"), fmt.Sprintf("%x", raw), fmt.Sprintf("%X", raw), string(raw)}
	check := func(t *testing.T, how, out string) {
		t.Helper()
		for _, h := range hidden {
			if strings.Contains(out, h) {
				t.Errorf("%s shows the key: %s", how, out)
			}
		}
	}
	t.Run("BRG-2 no verb shows a private key", func(t *testing.T) {
		type holder struct {
			key token.Key
			Key token.Key
			Ptr *token.Key
		}
		for _, verb := range strings.Split("v +v #v s q x X d b o U c t T p e g", " ") {
			for _, value := range []any{key, &key, []token.Key{key}, holder{key, key, &key}, map[string]any{"k": key}} {
				check(t, verb, fmt.Sprintf("%"+verb, value))
			}
		}
		if got := fmt.Sprintf("%v", key); got != "[redacted]" {
			t.Errorf("%%v = %s", got)
		}
	})
	t.Run("BRG-2 no log and no JSON shows a private key", func(t *testing.T) {
		var out bytes.Buffer
		slog.New(slog.NewJSONHandler(&out, nil)).Info("x", "key", key, "in", struct{ K token.Key }{key})
		slog.New(slog.NewTextHandler(&out, nil)).Info("x", "key", key, "in", struct{ K token.Key }{key})
		if err := json.NewEncoder(&out).Encode(map[string]any{"a": key, "b": &key}); err != nil {
			t.Fatal(err)
		}
		check(t, "log", out.String())
		if got := strings.Count(out.String(), "[redacted]"); got < 4 {
			t.Errorf("%d times [redacted] in %s", got, &out)
		}
	})
}

func TestKeyTexts(t *testing.T) {
	key := token.NewKey()
	t.Run("BRG-2 a key comes back from its text", func(t *testing.T) {
		again, err := token.ParseKey(" " + key.Reveal() + "\n")
		if err != nil || again.Reveal() != key.Reveal() || again.Public() != key.Public() {
			t.Fatalf("ParseKey(Reveal()) = %v, %v", again, err)
		}
		public, err := token.ParsePublicKey(key.Public().String() + "\n")
		if err != nil || public != key.Public() {
			t.Fatalf("ParsePublicKey(String()) = %v, %v", public, err)
		}
		if id := public.ID(); len(id.String()) != 16 || id != again.Public().ID() {
			t.Fatalf("ID() = %v", id)
		}
	})
	t.Run("BRG-2 what is not a key's text is refused and not repeated", func(t *testing.T) {
		for _, text := range []string{"", "x", key.Public().String(), key.Reveal() + "A", key.Reveal()[:len(key.Reveal())-1], key.Reveal()[20:], key.Reveal()[:30] + "\n" + key.Reveal()[31:]} {
			if _, err := token.ParseKey(text); !errors.Is(err, token.ErrKey) || (text != "" && text != "x" && strings.Contains(err.Error(), text)) {
				t.Errorf("ParseKey(%q): %v", text, err)
			}
		}
		if _, err := token.ParsePublicKey(key.Reveal()); !errors.Is(err, token.ErrKey) || !strings.Contains(err.Error(), "a private key") || strings.Contains(err.Error(), key.Reveal()[20:]) {
			t.Errorf("ParsePublicKey(private) = %v", err)
		}
	})
	t.Run("BRG-2 the zero key has no text", func(t *testing.T) {
		if got := (token.Key{}); got.Reveal() != "" || got.Public() != (token.PublicKey{}) || got.Requester(bridge.SessionID{1}, token.User{Name: "a"}) != [16]byte{} {
			t.Errorf("zero key: %q %v", got.Reveal(), got.Public())
		}
	})
}

func TestParseKeys(t *testing.T) {
	a, b := token.NewKey().Public(), token.NewKey().Public()
	for _, c := range []struct {
		name string
		text string
		want token.Keys
		says string
	}{
		{name: "BRG-2 one key", text: a.String(), want: token.Keys{a}},
		{name: "BRG-2 keys with comments and blank lines", text: "# 1\r\n\n" + b.String() + "\r\n  #\n " + a.String() + " \n", want: token.Keys{b, a}},
		{name: "BRG-2 no key", text: "# none\n", says: "bad token key: the list has no key"},
		{name: "BRG-2 a duplicate", text: a.String() + "\n\n" + a.String(), says: "bad token key in line 3: duplicate key " + a.ID().String()},
		{name: "BRG-2 a line that is not a key", text: a.String() + "\nx", says: "bad token key in line 2: not lanyard-exec-public:1: and 43 characters of base64url"},
		{name: "BRG-2 a private key", text: token.NewKey().Reveal(), says: "bad token key in line 1: a private key, which belongs to the webhook alone"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := token.ParseKeys(c.text)
			if c.says != "" {
				if got != nil || !errors.Is(err, token.ErrKey) || err.Error() != c.says {
					t.Fatalf("ParseKeys(…) = %v, %v, want %s", got, err, c.says)
				}
				return
			}
			if err != nil || fmt.Sprint(got) != fmt.Sprint(c.want) {
				t.Fatalf("ParseKeys(…) = %v, %v, want %v", got, err, c.want)
			}
			if again, err := token.ParseKeys(got.Text()); err != nil || fmt.Sprint(again) != fmt.Sprint(got) {
				t.Fatalf("ParseKeys(Text()) = %v, %v, want %v", again, err, got)
			}
		})
	}
	t.Run("BRG-2 too many keys", func(t *testing.T) {
		var keys token.Keys
		for range token.MaxKeys + 1 {
			keys = append(keys, token.NewKey().Public())
		}
		if _, err := token.ParseKeys(keys.Text()); !errors.Is(err, token.ErrKey) {
			t.Errorf("%d keys: %v", len(keys), err)
		}
		if got, err := token.ParseKeys(keys[1:].Text()); err != nil || len(got.IDs()) != token.MaxKeys || got.IDs()[0] != keys[1].ID() {
			t.Errorf("%d keys: %v", token.MaxKeys, err)
		}
	})
}
