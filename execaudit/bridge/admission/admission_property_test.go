package admission_test

import (
	"maps"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/lanyard-dev/lanyard/execaudit/bridge"
	"github.com/lanyard-dev/lanyard/execaudit/bridge/admission"
	"github.com/lanyard-dev/lanyard/execaudit/bridge/token"
)

// drawCommand draws a command that a user may ask for: nothing like a token, and nothing that JSON cannot carry.
func drawCommand(t *rapid.T, label string, least int) []string {
	element := rapid.OneOf(rapid.SampledFrom([]string{"", "sh", "-c", "env", "A=b", "lanyard", "lanyard-exec"}), rapid.String()).
		Filter(func(s string) bool {
			d := admission.Decide(admission.Input{
				Request: admission.Request{Source: "exec", Namespace: "shop", Name: "cart", Container: "app", Command: []string{s}},
				Known:   known(), Session: session, Nonce: nonce, Now: now,
			}, admission.Policy{}, signer)
			return d.Allowed
		})
	return rapid.SliceOfN(element, least, 8).Draw(t, label)
}

func TestLaws(t *testing.T) {
	t.Run("BRG-2 a command comes out as the token and itself, verifies, and a second call leaves it", rapid.MakeCheck(func(t *rapid.T) {
		command := drawCommand(t, "command", 1)
		tty := rapid.Bool().Draw(t, "tty")
		options := execOptions("app", command...)
		options.TTY = tty
		first := admission.Decide(input(t, connect("exec", alice, options), known()), refuse, signer)
		final := patched(t, first, command)
		if !slices.Equal(final[1:], command) {
			t.Fatalf("command %q, want a token and %q", final, command)
		}
		got, err := signer.Public().Verify(final[0], now, 0)
		if err != nil || got.Command != token.Digest(command, tty) {
			t.Fatalf("token %+v, %v", got, err)
		}
		options.Command = final
		second := admission.Decide(input(t, connect("exec", alice, options), known()), refuse, signer)
		if !second.Allowed || second.Patch != nil || second.Record || !maps.Equal(second.Response("u").AuditAnnotations, first.Response("u").AuditAnnotations) {
			t.Fatalf("second call: %+v", second)
		}
		if v := admission.Verify(input(t, connect("exec", alice, options), known()), refuse, signer); !v.Allowed {
			t.Fatalf("Verify = %+v", v)
		}
		options.TTY = !tty
		if v := admission.Verify(input(t, connect("exec", alice, options), known()), refuse, signer); v.Allowed {
			t.Fatal("Verify allows another tty")
		}
		if d := admission.Decide(input(t, connect("exec", bob, options), known()), refuse, signer); d.Allowed {
			t.Fatal("Decide allows another user's token")
		}
	}))
	t.Run("BRG-4 whatever another webhook does around the token, one session and one nonce come out", rapid.MakeCheck(func(t *rapid.T) {
		command, made := signed(t, alice, drawCommand(t, "command", 1)...)
		changed := append(drawCommand(t, "before", 0), command[0])
		changed = append(changed, drawCommand(t, "behind", 0)...)
		d := admission.Decide(input(t, exec(alice, changed...), known()), refuse, signer)
		if !d.Allowed {
			t.Fatalf("%+v", d)
		}
		final := patched(t, d, changed)
		got, err := signer.Public().Verify(final[0], now, 0)
		if err != nil || got.Session != made.Session || got.Nonce != made.Nonce || got.Expiry != made.Expiry || slices.ContainsFunc(final[1:], token.Like) {
			t.Fatalf("command %q, token %+v, %v; want the session and nonce of %+v", final, got, err, made)
		}
		if v := admission.Verify(input(t, exec(alice, final...), known()), refuse, signer); !v.Allowed {
			t.Fatalf("Verify = %+v", v)
		}
		// What a validating webhook lets pass is what was signed.
		v := admission.Verify(input(t, exec(alice, changed...), known()), refuse, signer)
		if same := slices.Equal(changed, command); v.Allowed != same {
			t.Fatalf("Verify of %q = %+v, want allowed %v", changed, v, same)
		}
	}))
	t.Run("BRG-4 a command with something like a token at any place is refused", rapid.MakeCheck(func(t *rapid.T) {
		command := drawCommand(t, "command", 0)
		like := rapid.String().Draw(t, "a") + token.Prefix + rapid.String().Draw(t, "b")
		command = slices.Insert(command, rapid.IntRange(0, len(command)).Draw(t, "at"), like)
		for _, policy := range []admission.Policy{{}, refuse} {
			d := admission.Decide(input(t, exec(alice, command...), known()), policy, signer)
			v := admission.Verify(input(t, exec(alice, command...), known()), policy, signer)
			if d.Allowed || v.Allowed || d.Outcome != bridge.OutcomeRefused {
				t.Fatalf("%q: %+v, %+v", command, d, v)
			}
		}
	}))
}
