package token_test

import (
	"encoding/base64"
	"errors"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/lanyard-dev/lanyard/execaudit/bridge"
	"github.com/lanyard-dev/lanyard/execaudit/bridge/token"
)

func printable(limit int) *rapid.Generator[string] {
	return rapid.Map(rapid.SliceOfN(rapid.ByteRange('!', '~'), 1, limit), func(b []byte) string { return string(b) })
}

func drawArray[A ~[16]byte | ~[32]byte](t *rapid.T, label string) (out A) {
	for i := range len(out) {
		out[i] = rapid.Byte().Draw(t, label)
	}
	out[0] |= 1 // none is zero
	return out
}

func drawToken(t *rapid.T) token.Token {
	from := rapid.Int64Range(0, 1<<36).Draw(t, "from")
	life := rapid.Int64Range(1, int64(token.MaxLifetime/time.Second)).Draw(t, "life")
	return token.Token{
		Session: drawArray[bridge.SessionID](t, "session"),
		Pod: token.Pod{
			UID: printable(64).Draw(t, "uid"), Namespace: printable(63).Draw(t, "namespace"), Name: printable(253).Draw(t, "name"),
		},
		Container: printable(63).Draw(t, "container"),
		Node:      printable(253).Draw(t, "node"),
		NotBefore: time.Unix(from, 0).UTC(),
		Expiry:    time.Unix(from+life, 0).UTC(),
		Nonce:     drawArray[[16]byte](t, "nonce"),
		Command:   drawArray[[32]byte](t, "command"),
		Requester: drawArray[[16]byte](t, "requester"),
		Unmarked:  rapid.Bool().Draw(t, "unmarked"),
	}
}

func TestTokenLaws(t *testing.T) {
	key, other := token.NewKey(), token.NewKey()
	keys := token.Keys{key.Public()}
	t.Run("BRG-2 what is signed comes back", rapid.MakeCheck(func(t *rapid.T) {
		want := drawToken(t)
		text, err := key.Sign(want)
		if err != nil {
			t.Fatal(err)
		}
		if len(text) > token.MaxBytes || !strings.HasPrefix(text, token.Prefix) || !token.Like(text) {
			t.Fatalf("%d bytes: %s", len(text), text)
		}
		now := want.NotBefore.Add(time.Duration(rapid.Int64Range(0, int64(want.Expiry.Sub(want.NotBefore))-1).Draw(t, "now")))
		if got, err := keys.Verify(text, now, 0); err != nil || got != want {
			t.Fatalf("Verify(Sign(t)) = %+v, %v, want %+v", got, err, want)
		}
		if got, id, err := token.Parse(text); err != nil || got != want || id != key.Public().ID() {
			t.Fatalf("Parse(Sign(t)) = %+v, %v, %v, want %+v", got, id, err, want)
		}
		if again, _ := key.Sign(want); again != text {
			t.Fatal("two texts for one token")
		}
		if _, err := (token.Keys{other.Public()}).Verify(text, now, 0); !errors.Is(err, token.ErrUnknownKey) {
			t.Fatalf("another set of keys: %v", err)
		}
	}))
	t.Run("BRG-2 time decides as the obvious model does", rapid.MakeCheck(func(t *rapid.T) {
		value := sample()
		text, err := key.Sign(value)
		if err != nil {
			t.Fatal(err)
		}
		now := at.Add(time.Duration(rapid.Int64Range(-int64(3*time.Minute), int64(3*time.Minute)).Draw(t, "now")))
		skew := time.Duration(rapid.Int64Range(-int64(time.Minute), int64(2*time.Minute)).Draw(t, "skew"))
		var want error
		switch room := max(0, skew); {
		case now.UnixNano() < value.NotBefore.UnixNano()-int64(room):
			want = token.ErrNotYet
		case now.UnixNano() >= value.Expiry.UnixNano()+int64(room):
			want = token.ErrExpired
		}
		_, err = keys.Verify(text, now, skew)
		var fault *token.Fault
		if !errors.Is(err, want) || (want != nil && (!errors.As(err, &fault) || fault.By < max(0, skew))) {
			t.Fatalf("Verify(…, %s, %s) = %v, want %v", now, skew, err, want)
		}
	}))
	t.Run("BRG-4 a field that is changed under the same signature is refused", rapid.MakeCheck(func(t *rapid.T) {
		value := drawToken(t)
		text, err := key.Sign(value)
		if err != nil {
			t.Fatal(err)
		}
		raw, err := base64.RawURLEncoding.DecodeString(text[15:])
		if err != nil {
			t.Fatal(err)
		}
		changed, signature := value, raw[len(raw)-64:]
		change := []func(){
			func() { changed.Session[15] ^= 1 },
			func() { changed.Pod.UID = grown(changed.Pod.UID) },
			func() { changed.Pod.Namespace = grown(changed.Pod.Namespace) },
			func() { changed.Pod.Name = grown(changed.Pod.Name) },
			func() { changed.Container = grown(changed.Container) },
			func() { changed.Node = grown(changed.Node) },
			func() { changed.Pod.Name, changed.Container = changed.Container, changed.Pod.Name },
			func() { changed.NotBefore = changed.NotBefore.Add(-time.Second) },
			func() { changed.Expiry = changed.Expiry.Add(time.Second) },
			func() { changed.Nonce[15] ^= 1 },
			func() { changed.Command[31] ^= 1 },
			func() { changed.Requester[15] ^= 1 },
			func() { changed.Unmarked = !changed.Unmarked },
		}
		rapid.SampledFrom(change).Draw(t, "change")()
		if changed == value { // swapped two that are the same
			return
		}
		forged := token.Encode(changed, key.Public().ID(), signature)
		if len(forged) > token.MaxBytes {
			return
		}
		if _, err := keys.Verify(forged, value.NotBefore, time.Hour); !errors.Is(err, token.ErrSignature) {
			t.Fatalf("%v", err)
		}
	}))
	t.Run("BRG-4 a key that is named wrongly is refused", rapid.MakeCheck(func(t *rapid.T) {
		value := drawToken(t)
		text, _ := key.Sign(value)
		raw, err := base64.RawURLEncoding.DecodeString(text[15:])
		if err != nil {
			t.Fatal(err)
		}
		forged := token.Encode(value, other.Public().ID(), raw[len(raw)-64:])
		both := token.Keys{key.Public(), other.Public()}
		if _, err := both.Verify(forged, value.NotBefore, 0); !errors.Is(err, token.ErrSignature) {
			t.Fatalf("%v", err)
		}
	}))
}

// grown changes a text and stays within its limit.
func grown(text string) string {
	if text[0] == 'x' {
		return "y" + text[1:]
	}
	return "x" + text[1:]
}
