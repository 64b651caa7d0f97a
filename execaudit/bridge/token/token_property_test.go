package token_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
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

func TestEveryBit(t *testing.T) {
	key := token.NewKey()
	keys := token.Keys{key.Public()}
	text := sign(t, key, sample())
	raw, err := base64.RawURLEncoding.DecodeString(text[15:])
	if err != nil {
		t.Fatal(err)
	}
	t.Run("BRG-4 no bit of a token can be changed", func(t *testing.T) {
		for i := range raw {
			for bit := range 8 {
				changed := slices.Clone(raw)
				changed[i] ^= 1 << bit
				if got, err := keys.Verify(text[:15]+base64.RawURLEncoding.EncodeToString(changed), at, time.Hour); err == nil || got != (token.Token{}) {
					t.Fatalf("bit %d of byte %d changed: %+v, %v", bit, i, got, err)
				}
			}
		}
	})
	t.Run("BRG-4 no bit of a text can be changed", func(t *testing.T) {
		for i := range len(text) {
			for bit := range 8 {
				changed := []byte(text)
				changed[i] ^= 1 << bit
				if got, err := keys.Verify(string(changed), at, time.Hour); err == nil || got != (token.Token{}) {
					t.Fatalf("bit %d of byte %d changed: %+v, %v", bit, i, got, err)
				}
			}
		}
	})
	t.Run("BRG-4 no token can be cut or extended", func(t *testing.T) {
		for i := range raw {
			if _, err := keys.Verify(text[:15]+base64.RawURLEncoding.EncodeToString(raw[:i]), at, 0); err == nil {
				t.Fatalf("cut to %d bytes", i)
			}
		}
		for _, more := range []string{"\x00", "A", string(raw)} {
			if _, err := keys.Verify(text[:15]+base64.RawURLEncoding.EncodeToString(append(slices.Clone(raw), more...)), at, 0); err == nil {
				t.Fatalf("extended by %q", more)
			}
		}
	})
}

func TestSignedAndWrong(t *testing.T) {
	// What no Sign makes: signed with the key, by a program that knows it, and refused all the same.
	key := token.NewKey()
	for _, c := range []struct {
		name    string
		value   func(*token.Token)
		payload func([]byte) []byte
		want    error
		says    string
	}{
		{"BRG-2 a lifetime that is too long", func(v *token.Token) { v.Expiry = v.NotBefore.Add(time.Hour) }, nil, token.ErrField, "bad token field: expiry is 3600 s after not before, more than 600 s"},
		{"BRG-2 a session of zeros", func(v *token.Token) { v.Session = bridge.SessionID{} }, nil, token.ErrField, "bad token field: session is zero"},
		{"BRG-2 an escape sequence in a name", func(v *token.Token) { v.Pod.Name = "\x1b[2J" }, nil, token.ErrField, "bad token field: pod name is not printable ASCII without spaces"},
		{"BRG-2 bytes behind the last field", nil, func(p []byte) []byte { return append(p, 0) }, token.ErrMalformed, "malformed token: bytes behind the last field"},
		{"BRG-2 a last field that is cut off", nil, func(p []byte) []byte { return p[:len(p)-1] }, token.ErrMalformed, "malformed token: node is cut off"},
		{"BRG-2 an unknown flag", nil, func(p []byte) []byte { p[104] |= 2; return p }, token.ErrMalformed, "malformed token: an unknown flag"},
		{"BRG-2 a time beyond all years", nil, func(p []byte) []byte { p[88] = 0xff; return p }, token.ErrMalformed, "malformed token: a time after the year 9999"},
	} {
		t.Run(c.name, func(t *testing.T) {
			value := sample()
			if c.value != nil {
				c.value(&value)
			}
			payload := token.Payload(value, key.Public().ID())
			if c.payload != nil {
				payload = c.payload(payload)
			}
			text := token.SignPayload(payload, key)
			if got, err := (token.Keys{key.Public()}).Verify(text, at, 0); !errors.Is(err, c.want) || err.Error() != c.says || got != (token.Token{}) {
				t.Fatalf("Verify(…) = %+v, %v, want %s", got, err, c.says)
			}
			if got, _, err := token.Parse(text); !errors.Is(err, c.want) || err.Error() != c.says || got != (token.Token{}) {
				t.Fatalf("Parse(…) = %+v, %v, want %s", got, err, c.says)
			}
		})
	}
}

func TestDigestLaws(t *testing.T) {
	elements := rapid.SliceOfN(rapid.OneOf(
		rapid.Map(rapid.SliceOfN(rapid.Byte(), 0, 6), func(b []byte) string { return string(b) }),
		rapid.SampledFrom([]string{"", "\x00", "a", "aa", "\xff", "\ufffd", "\x00\x00\x00\x00\x00\x00\x00\x01a"}),
	), 0, 6)
	t.Run("BRG-2 commands that differ have digests that differ", rapid.MakeCheck(func(t *rapid.T) {
		a, b := elements.Draw(t, "a"), elements.Draw(t, "b")
		ttyA, ttyB := rapid.Bool().Draw(t, "tty a"), rapid.Bool().Draw(t, "tty b")
		same := slices.Equal(a, b) && ttyA == ttyB
		if got := token.Digest(a, ttyA) == token.Digest(b, ttyB); got != same {
			t.Fatalf("Digest(%q, %v) == Digest(%q, %v) is %v", a, ttyA, b, ttyB, got)
		}
	}))
	t.Run("BRG-2 one text split in two ways has two digests", rapid.MakeCheck(func(t *rapid.T) {
		whole := rapid.SliceOfN(rapid.Byte(), 0, 30).Draw(t, "text")
		split := func(label string) (out []string) {
			rest := string(whole)
			for n := rapid.IntRange(0, 5).Draw(t, label); n > 0; n-- {
				i := rapid.IntRange(0, len(rest)).Draw(t, label)
				out, rest = append(out, rest[:i]), rest[i:]
			}
			return append(out, rest)
		}
		a, b := split("a"), split("b")
		if got := token.Digest(a, false) == token.Digest(b, false); got != slices.Equal(a, b) {
			t.Fatalf("Digest(%q) == Digest(%q) is %v", a, b, got)
		}
	}))
	t.Run("BRG-2 the digest is that of the obvious encoding", rapid.MakeCheck(func(t *rapid.T) {
		rest, tty := elements.Draw(t, "rest"), rapid.Bool().Draw(t, "tty")
		model := bytes.NewBufferString("lanyard exec command 1\x00")
		_ = binary.Write(model, binary.BigEndian, tty)
		_ = binary.Write(model, binary.BigEndian, uint64(len(rest)))
		for _, element := range rest {
			_ = binary.Write(model, binary.BigEndian, uint64(len(element)))
			model.WriteString(element)
		}
		if got, want := token.Digest(rest, tty), sha256.Sum256(model.Bytes()); got != want {
			t.Fatalf("Digest(%q, %v) = %x, want %x", rest, tty, got, want)
		}
	}))
}

func TestRequesterLaws(t *testing.T) {
	key, other, session := token.NewKey(), token.NewKey(), bridge.SessionID{1}
	name := rapid.SampledFrom([]string{"", "a", "b", "ab", "a\x00", "system:masters"})
	names := rapid.SliceOfN(name, 0, 3)
	drawUser := func(t *rapid.T) token.User {
		return token.User{
			Name: name.Draw(t, "name"), UID: name.Draw(t, "uid"), Groups: names.Draw(t, "groups"),
			Extra: rapid.MapOfN(name, names, 0, 2).Draw(t, "extra"),
		}
	}
	// model is everything that says who a user is, in one order.
	model := func(u token.User) string {
		u.Groups = slices.Sorted(slices.Values(u.Groups))
		extra := map[string][]string{}
		for k, v := range u.Extra {
			extra[k] = slices.Sorted(slices.Values(v))
		}
		return fmt.Sprintf("%q %q %q %q", u.Name, u.UID, u.Groups, extra) // which prints maps by key
	}
	t.Run("BRG-4 a tag is one user's alone", rapid.MakeCheck(func(t *rapid.T) {
		a, b := drawUser(t), drawUser(t)
		if got := key.Requester(session, a) == key.Requester(session, b); got != (model(a) == model(b)) {
			t.Fatalf("Requester(%+v) == Requester(%+v) is %v", a, b, got)
		}
	}))
	t.Run("BRG-4 the order of groups and of extra values does not count", rapid.MakeCheck(func(t *rapid.T) {
		a := drawUser(t)
		b := a
		b.Groups = slices.Clone(a.Groups)
		slices.Reverse(b.Groups)
		b.Extra = map[string][]string{}
		for k, v := range a.Extra {
			b.Extra[k] = slices.Clone(v)
			slices.Reverse(b.Extra[k])
		}
		if before := fmt.Sprintf("%q", a); key.Requester(session, a) != key.Requester(session, b) || fmt.Sprintf("%q", a) != before {
			t.Fatalf("%+v and %+v", a, b)
		}
	}))
	t.Run("EXA-27 a tag cannot be computed without the key", rapid.MakeCheck(func(t *rapid.T) {
		user := drawUser(t)
		if key.Requester(session, user) == other.Requester(session, user) {
			t.Fatal("one tag under two keys")
		}
		again, err := token.ParseKey(key.Reveal())
		if err != nil || key.Requester(session, user) != again.Requester(session, user) {
			t.Fatalf("another tag by the key's text: %v", err)
		}
	}))
	t.Run("EXA-27 a tag does not tell that two sessions are of one user", rapid.MakeCheck(func(t *rapid.T) {
		user := drawUser(t)
		if key.Requester(session, user) == key.Requester(bridge.SessionID{2}, user) {
			t.Fatal("one tag in two sessions")
		}
	}))
}
