package token_test

import (
	"bytes"
	"encoding/base64"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/lanyard-dev/lanyard/execaudit/bridge"
	"github.com/lanyard-dev/lanyard/execaudit/bridge/token"
)

var at = time.Date(2026, 11, 22, 10, 0, 0, 0, time.UTC)

func sample() token.Token {
	return token.Token{
		Session:   bridge.SessionID{1, 2, 3},
		Pod:       token.Pod{UID: "0b2b3c7e-6f0c-4d0f-9a55-0d4a3f5b1c2d", Namespace: "shop", Name: "cart-7c9b6d5f4-x2x7p"},
		Container: "app",
		Node:      "ip-10-0-12-34.eu-central-1.compute.internal",
		NotBefore: at,
		Expiry:    at.Add(time.Minute),
		Nonce:     [16]byte{4, 5, 6},
		Command:   token.Digest([]string{"sh", "-c", "id"}, true),
		Requester: [16]byte{7},
	}
}

func sign(t testing.TB, key token.Key, value token.Token) string {
	t.Helper()
	text, err := key.Sign(value)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func TestVerify(t *testing.T) {
	key, other := token.NewKey(), token.NewKey()
	keys := token.Keys{other.Public(), key.Public()}
	text := sign(t, key, sample())
	for _, c := range []struct {
		name string
		keys token.Keys
		text string
		now  time.Time
		skew time.Duration
		want error
		says string
	}{
		{name: "BRG-2 a fresh token is good", now: at},
		{name: "BRG-2 a token is good to the last moment", now: at.Add(time.Minute - 1)},
		{name: "BRG-2 skew counts before", now: at.Add(-5 * time.Second), skew: 5 * time.Second},
		{name: "BRG-2 skew counts after", now: at.Add(65*time.Second - 1), skew: 5 * time.Second},
		{
			name: "BRG-4 a token is expired at its expiry", now: at.Add(time.Minute),
			want: token.ErrExpired, says: "token expired 0 s ago by this node's clock",
		},
		{
			name: "BRG-6 a node's clock that is ahead is told", now: at.Add(71*time.Second + 1), skew: 5 * time.Second,
			want: token.ErrExpired, says: "token expired 12 s ago by this node's clock",
		},
		{
			name: "BRG-6 a node's clock that is behind is told", now: at.Add(-6500 * time.Millisecond), skew: 5 * time.Second,
			want: token.ErrNotYet, says: "token not valid for another 7 s by this node's clock",
		},
		{name: "BRG-6 a negative skew is none", now: at, skew: -time.Hour},
		{
			name: "BRG-4 a token of an unknown key", keys: token.Keys{other.Public()}, now: at, want: token.ErrUnknownKey,
			says: "token signed by key " + key.Public().ID().String() + ", which is not among this node's keys",
		},
		{name: "BRG-4 no keys at all", keys: token.Keys{}, now: at, want: token.ErrUnknownKey},
		{name: "BRG-4 a bad signature is told before an expiry", text: text[:len(text)-2] + flip(text[len(text)-2:]), now: at.Add(time.Hour), want: token.ErrSignature},
		{
			name: "BRG-4 another version", text: strings.Replace(text, ":1:", ":2:", 1), now: at, want: token.ErrVersion,
			says: "unknown token version: 2, where only 1 is known",
		},
		{name: "BRG-4 a version with a zero before it", text: strings.Replace(text, ":1:", ":01:", 1), now: at, want: token.ErrVersion},
		{name: "BRG-4 no version", text: strings.Replace(text, ":1:", ":", 1), now: at, want: token.ErrMalformed},
		{name: "BRG-4 not a token", text: "sh", now: at, want: token.ErrMalformed, says: "malformed token: does not begin with lanyard-exec:"},
		{name: "BRG-4 something before it", text: " " + text, now: at, want: token.ErrMalformed},
		{name: "BRG-4 a new line behind it", text: text + "\n", now: at, want: token.ErrMalformed},
		{name: "BRG-4 a new line within it", text: text[:40] + "\r\n" + text[40:], now: at, want: token.ErrMalformed},
		{name: "BRG-4 padding", text: text + "=", now: at, want: token.ErrMalformed},
		{name: "BRG-4 cut off", text: text[:15+100], now: at, want: token.ErrMalformed, says: "malformed token: too short"},
		{name: "BRG-4 too long", text: text + strings.Repeat("A", token.MaxBytes), now: at, want: token.ErrMalformed},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.keys == nil {
				c.keys = keys
			}
			if c.text == "" {
				c.text = text
			}
			got, err := c.keys.Verify(c.text, c.now, c.skew)
			if !errors.Is(err, c.want) || (c.says != "" && err.Error() != c.says) {
				t.Fatalf("Verify(…) = %v, want %v %s", err, c.want, c.says)
			}
			want := token.Token{}
			if c.want == nil {
				want = sample()
			}
			if got != want {
				t.Fatalf("Verify(…) = %+v, want %+v", got, want)
			}
		})
	}
}

// flip changes a letter, and keeps the encoding's unused bits.
func flip(text string) string {
	if text[0] == 'A' {
		return "B" + text[1:]
	}
	return "A" + text[1:]
}

func TestKeysOverlapInRotation(t *testing.T) {
	old, next := token.NewKey(), token.NewKey()
	signedOld, signedNext := sign(t, old, sample()), sign(t, next, sample())
	for _, c := range []struct {
		name      string
		keys      token.Keys
		old, next error
	}{
		{"BRG-2 before rotation", token.Keys{old.Public()}, nil, token.ErrUnknownKey},
		{"BRG-2 during rotation both are good", token.Keys{old.Public(), next.Public()}, nil, nil},
		{"BRG-4 after rotation the retired key is not", token.Keys{next.Public()}, token.ErrUnknownKey, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			if _, err := c.keys.Verify(signedOld, at, 0); !errors.Is(err, c.old) {
				t.Errorf("old key: %v, want %v", err, c.old)
			}
			if _, err := c.keys.Verify(signedNext, at, 0); !errors.Is(err, c.next) {
				t.Errorf("next key: %v, want %v", err, c.next)
			}
		})
	}
}

func TestSign(t *testing.T) {
	key := token.NewKey()
	for _, c := range []struct {
		name   string
		change func(*token.Token)
		says   string
	}{
		{"BRG-2 no session", func(v *token.Token) { v.Session = bridge.SessionID{} }, "session is zero"},
		{"BRG-2 no nonce", func(v *token.Token) { v.Nonce = [16]byte{} }, "nonce is zero"},
		{"BRG-2 no pod UID", func(v *token.Token) { v.Pod.UID = "" }, "pod UID is empty"},
		{"BRG-2 no node", func(v *token.Token) { v.Node = "" }, "node is empty"},
		{"BRG-2 a pod UID that is too long", func(v *token.Token) { v.Pod.UID = strings.Repeat("u", 65) }, "pod UID has 65 bytes, more than 64"},
		{"BRG-2 a namespace that is too long", func(v *token.Token) { v.Pod.Namespace = strings.Repeat("u", 64) }, "pod namespace has 64 bytes, more than 63"},
		{"BRG-2 a name that is too long", func(v *token.Token) { v.Pod.Name = strings.Repeat("u", 254) }, "pod name has 254 bytes, more than 253"},
		{"BRG-2 a container that is too long", func(v *token.Token) { v.Container = strings.Repeat("u", 64) }, "container has 64 bytes, more than 63"},
		{"BRG-2 a node that is too long", func(v *token.Token) { v.Node = strings.Repeat("u", 254) }, "node has 254 bytes, more than 253"},
		{"BRG-2 a space", func(v *token.Token) { v.Node = "a b" }, "node is not printable ASCII without spaces"},
		{"BRG-2 bytes that are not ASCII", func(v *token.Token) { v.Container = "\xff" }, "container is not printable ASCII without spaces"},
		{"BRG-2 no time", func(v *token.Token) { v.NotBefore = time.Time{} }, "not before is outside of the years 1970 to 9999"},
		{"BRG-2 no expiry", func(v *token.Token) { v.Expiry = time.Time{} }, "expiry is outside of the years 1970 to 9999"},
		{"BRG-2 no lifetime", func(v *token.Token) { v.Expiry = v.NotBefore }, "expiry is not a second after not before"},
		{"BRG-2 a lifetime that is too long", func(v *token.Token) { v.Expiry = v.NotBefore.Add(token.MaxLifetime + time.Second) }, "expiry is 601 s after not before, more than 600 s"},
	} {
		t.Run(c.name, func(t *testing.T) {
			value := sample()
			c.change(&value)
			text, err := key.Sign(value)
			if text != "" || !errors.Is(err, token.ErrField) || err.Error() != "bad token field: "+c.says {
				t.Fatalf("Sign(…) = %q, %v, want %s", text, err, c.says)
			}
		})
	}
	t.Run("BRG-2 the largest token has MaxBytes", func(t *testing.T) {
		value := sample()
		value.Pod = token.Pod{UID: strings.Repeat("u", 64), Namespace: strings.Repeat("s", 63), Name: strings.Repeat("n", 253)}
		value.Container, value.Node = strings.Repeat("c", 63), strings.Repeat("o", 253)
		value.Expiry = value.NotBefore.Add(token.MaxLifetime)
		text := sign(t, key, value)
		if len(text) != token.MaxBytes || token.MaxBytes > 2048 {
			t.Fatalf("%d bytes, MaxBytes %d", len(text), token.MaxBytes)
		}
		if got, err := (token.Keys{key.Public()}).Verify(text, at, 0); err != nil || got != value {
			t.Fatalf("Verify(…) = %+v, %v", got, err)
		}
	})
	t.Run("BRG-2 parts of a second are cut off", func(t *testing.T) {
		value := sample()
		value.NotBefore, value.Expiry = value.NotBefore.Add(time.Second-1).In(time.FixedZone("x", 3600)), value.Expiry.Add(1)
		if got, _, err := token.Parse(sign(t, key, value)); err != nil || got != sample() {
			t.Fatalf("Parse(Sign(…)) = %+v, %v", got, err)
		}
	})
	t.Run("BRG-2 the zero key signs nothing", func(t *testing.T) {
		if text, err := (token.Key{}).Sign(sample()); text != "" || !errors.Is(err, token.ErrKey) {
			t.Fatalf("Sign(…) = %q, %v", text, err)
		}
	})
	t.Run("EXA-27 a token has no name of its requester", func(t *testing.T) {
		value := sample()
		value.Requester = key.Requester(value.Session, token.User{Name: "alice@example.com"})
		raw, err := base64.RawURLEncoding.DecodeString(strings.TrimPrefix(sign(t, key, value), "lanyard-exec:1:"))
		if err != nil || bytes.Contains(raw, []byte("alice")) {
			t.Fatalf("%q, %v", raw, err)
		}
	})
}

func TestLike(t *testing.T) {
	text := sign(t, token.NewKey(), sample())
	for element, want := range map[string]bool{
		text: true, "X=" + text: true, "lanyard-exec:": true, "lanyard-exec:9:zz": true, "": false, "sh": false, "lanyard-exec": false,
	} {
		t.Run("BRG-4 something like a token is seen at any place", func(t *testing.T) {
			if got := token.Like(element); got != want {
				t.Errorf("Like(%q) = %v, want %v", element, got, want)
			}
		})
	}
}

func TestPodUID(t *testing.T) {
	for _, c := range []struct {
		name        string
		annotations map[string]string
		want        string
	}{
		{"BRG-2 a pod binds to its UID", nil, "api"},
		{"BRG-2 a mirror pod binds to the UID that its node knows", map[string]string{"kubernetes.io/config.mirror": "node"}, "node"},
		{"BRG-2 an empty annotation is none", map[string]string{"kubernetes.io/config.mirror": ""}, "api"},
		{"BRG-2 other annotations do not count", map[string]string{"kubernetes.io/config.hash": "x"}, "api"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := token.PodUID("api", c.annotations); got != c.want {
				t.Errorf("PodUID(…) = %s, want %s", got, c.want)
			}
		})
	}
}
