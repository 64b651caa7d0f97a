package texts_test

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/lanyard-dev/lanyard/execaudit/attribution/internal/texts"
)

func TestClaims(t *testing.T) {
	text := rapid.StringMatching(`[a-z0-9]{0,8}`)
	t.Run("ATT-3 the first value of each variable that is not empty", func(t *testing.T) {
		rapid.Check(t, func(t *rapid.T) {
			var s texts.Store
			var got, want texts.Claims
			names := map[string]*string{texts.AuditIDName: &want.AuditID, texts.ExecSessionName: &want.ExecSession, "HOME": new(string), texts.AuditIDName + "X": new(string)}
			for range rapid.IntRange(0, 6).Draw(t, "variables") {
				name := rapid.SampledFrom([]string{texts.AuditIDName, texts.ExecSessionName, "HOME", texts.AuditIDName + "X"}).Draw(t, "name")
				value := text.Draw(t, "value")
				if rapid.Bool().Draw(t, "entry") {
					got.TakeEntry(&s, []byte(name+"="+value))
				} else {
					got.Take(&s, []byte(name), []byte(value))
				}
				if *names[name] == "" {
					*names[name] = value
				}
			}
			if got != want {
				t.Fatalf("Claims = %+v, want %+v", got, want)
			}
		})
	})
	t.Run("ATT-3 an entry without = is not a variable", func(t *testing.T) {
		var s texts.Store
		var c texts.Claims
		c.TakeEntry(&s, []byte(texts.AuditIDName))
		if c != (texts.Claims{}) {
			t.Errorf("Claims = %+v", c)
		}
	})
}

func TestSessionID(t *testing.T) {
	const id = "5ff1c7b9-0000-4000-8001-000000000000"
	t.Run("ATT-8 one character that is not a digit's or a hyphen's place makes another text", func(t *testing.T) {
		rapid.Check(t, func(t *rapid.T) {
			at, b := rapid.IntRange(0, len(id)-1).Draw(t, "at"), rapid.Byte().Draw(t, "byte")
			digit := b >= '0' && b <= '9' || b >= 'a' && b <= 'f'
			want := digit && id[at] != '-' || b == '-' && id[at] == '-'
			if got := texts.SessionID(id[:at] + string([]byte{b}) + id[at+1:]); got != want {
				t.Fatalf("SessionID with %q at %d = %v", b, at, got)
			}
		})
	})
	t.Run("ATT-8 neither another length nor zero", func(t *testing.T) {
		for _, text := range []string{"", id[1:], id + "0", "00000000-0000-0000-0000-000000000000"} {
			if texts.SessionID(text) {
				t.Errorf("SessionID(%q)", text)
			}
		}
	})
}
