package token_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/lanyard-dev/lanyard/execaudit/bridge"
	"github.com/lanyard-dev/lanyard/execaudit/bridge/token"
)

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
