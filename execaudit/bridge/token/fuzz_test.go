package token_test

import (
	"encoding/base64"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/lanyard-dev/lanyard/execaudit/bridge/token"
)

// fuzzKey is always the same, so that what the fuzzer found stays a finding.
func fuzzKey(t testing.TB) token.Key {
	key, err := token.ParseKey("lanyard-exec-key:1:" + base64.RawURLEncoding.EncodeToString([]byte(strings.Repeat("k", 32))))
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func seeds(f *testing.F) {
	text := sign(f, fuzzKey(f), sample())
	for _, seed := range []string{
		text, "", "sh", token.Prefix, "lanyard-exec:1:", "lanyard-exec:2:" + text[15:], text + "=", text + "\n", text[:15+100], strings.Repeat("A", token.MaxBytes),
		text[:15] + strings.Repeat("A", len(text)-15),
	} {
		f.Add(seed)
	}
}

func FuzzParse(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, text string) {
		got, id, err := token.Parse(text)
		if err != nil {
			var fault *token.Fault
			if !errors.As(err, &fault) || got != (token.Token{}) || id != (token.KeyID{}) || len(err.Error()) > 120 {
				t.Fatalf("Parse(%q) = %+v, %v, %v", text, got, id, err)
			}
			return
		}
		raw, err := base64.RawURLEncoding.DecodeString(text[15:])
		if err != nil {
			t.Fatal(err)
		}
		if again := token.Encode(got, id, raw[len(raw)-64:]); again != text || len(text) > token.MaxBytes {
			t.Fatalf("two texts for one token: %q and %q", text, again)
		}
		if _, err := fuzzKey(t).Sign(got); err != nil {
			t.Fatalf("parsed what cannot be signed: %v", err)
		}
	})
}

func FuzzVerify(f *testing.F) {
	seeds(f)
	key := fuzzKey(f)
	keys, signed := token.Keys{key.Public()}, sign(f, key, sample())
	f.Fuzz(func(t *testing.T, text string) {
		if got, err := keys.Verify(text, at, time.Second); (err == nil) != (text == signed) || (err == nil && got != sample()) {
			t.Fatalf("Verify(%q) = %+v, %v", text, got, err)
		}
	})
}

// FuzzSignedPayload is for what only the holder of the key could send: it is parsed or refused, and never more.
func FuzzSignedPayload(f *testing.F) {
	key := fuzzKey(f)
	keys, id := token.Keys{key.Public()}, key.Public().ID()
	f.Add(token.Payload(sample(), id)[len(id):])
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, payload []byte) {
		text := token.SignPayload(append(id[:len(id):len(id)], payload...), key)
		got, err := keys.Verify(text, at, time.Second)
		if errors.Is(err, token.ErrSignature) || errors.Is(err, token.ErrUnknownKey) {
			t.Fatalf("Verify(%q) = %v", text, err)
		}
		if err != nil {
			return
		}
		if again, err := key.Sign(got); err != nil || again != text {
			t.Fatalf("Sign(Verify(%q)) = %q, %v", text, again, err)
		}
	})
}

func FuzzParseKeys(f *testing.F) {
	a, b := token.NewKey(), token.NewKey()
	for _, seed := range []string{
		"", "# x\n", token.Keys{a.Public(), b.Public()}.Text(), a.Reveal(), a.Public().String() + "\r\n" + a.Public().String(), "lanyard-exec-public:1:" + strings.Repeat("A", 43),
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		keys, err := token.ParseKeys(text)
		if one, fault := token.ParsePublicKey(text); fault == nil && (err != nil || len(keys) != 1 || keys[0] != one) {
			t.Fatalf("ParseKeys(%q) = %v, %v, want the key that ParsePublicKey finds", text, keys, err)
		}
		if err != nil {
			var fault *token.Fault
			if !errors.As(err, &fault) || keys != nil || len(err.Error()) > 120 {
				t.Fatalf("ParseKeys(%q) = %v, %v", text, keys, err)
			}
			return
		}
		again, err := token.ParseKeys(keys.Text())
		if err != nil || again.Text() != keys.Text() {
			t.Fatalf("ParseKeys(Text()) = %v, %v, want %v", again, err, keys)
		}
	})
}
