package bridge_test

import (
	"testing"
	"time"

	"github.com/google/cel-go/cel"
	admissionregistration "k8s.io/api/admissionregistration/v1"

	"github.com/lanyard-dev/lanyard/examples/bridge"
	"github.com/lanyard-dev/lanyard/execaudit/bridge/token"
)

// TestSpared asks the chart's own condition which commands the validating webhook is called for.
func TestSpared(t *testing.T) {
	signed, err := token.NewKey().Sign(sparedToken())
	if err != nil {
		t.Fatal(err)
	}
	objects := render(t, bridge.Release{})
	for _, name := range []string{"zzz-lanyard-exec", "zzz-lanyard-exec-system"} {
		webhook := typed[admissionregistration.ValidatingWebhookConfiguration](t, objects, "ValidatingWebhookConfiguration", name).Webhooks[0]
		called := condition(t, webhook.MatchConditions, "not-one-token-first")
		for _, row := range []struct {
			name   string
			object map[string]any
			want   bool
		}{
			{"one token, first", map[string]any{"command": []string{signed, "sh"}}, false},
			{"no token", map[string]any{"command": []string{"sh"}}, true},
			{"a token behind another element", map[string]any{"command": []string{"env", signed, "sh"}}, true},
			{"two tokens", map[string]any{"command": []string{signed, signed}}, true},
			{"something like a token in a later element", map[string]any{"command": []string{signed, "sh", "-c", "x " + token.Prefix}}, true},
			{"a token alone", map[string]any{"command": []string{signed}}, true},
			{"something before the token in its element", map[string]any{"command": []string{" " + signed, "sh"}}, true},
			{"another version", map[string]any{"command": []string{token.Prefix + "2:x", "sh"}}, true},
			{"no command", map[string]any{"command": []string{}}, true},
			{"no such field", map[string]any{}, true},
		} {
			t.Run("BRG-4 "+name+": "+row.name, func(t *testing.T) {
				got, _, err := called.Eval(map[string]any{"object": row.object})
				if err != nil || got.Value() != row.want {
					t.Fatalf("the validating webhook is called: %v, %v; want %v", got, err, row.want)
				}
			})
		}
	}
}

// condition compiles the condition of that name.
func condition(t *testing.T, all []admissionregistration.MatchCondition, name string) cel.Program {
	t.Helper()
	for _, c := range all {
		if c.Name != name {
			continue
		}
		env, err := cel.NewEnv(cel.Variable("object", cel.DynType))
		if err != nil {
			t.Fatal(err)
		}
		ast, issues := env.Compile(c.Expression)
		if issues.Err() != nil {
			t.Fatal(issues.Err())
		}
		program, err := env.Program(ast)
		if err != nil {
			t.Fatal(err)
		}
		return program
	}
	t.Fatalf("no condition %s", name)
	return nil
}

func sparedToken() token.Token {
	return token.Token{
		Session: [16]byte{1}, Nonce: [16]byte{1}, Requester: [16]byte{1}, Command: token.Digest([]string{"sh"}, false),
		Pod: token.Pod{UID: "u", Namespace: "default", Name: "web"}, Container: "app", Node: "n1",
		NotBefore: time.Unix(1, 0), Expiry: time.Unix(60, 0),
	}
}
