package credprovider_test

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/lanyard-dev/lanyard/credprovider"
	"github.com/lanyard-dev/lanyard/redact"
)

func TestResponseHolds(t *testing.T) {
	token := redact.New("eyJ.secret.token")
	for _, c := range []struct {
		name                        string
		pattern, username, password string
		want                        bool
	}{
		{"CRP-33 the password", "reg.io", "u", "eyJ.secret.token", true},
		{"CRP-33 a part of the password", "reg.io", "u", "Bearer eyJ.secret.token", true},
		{"CRP-33 the user name", "reg.io", "eyJ.secret.token", "p", true},
		{"CRP-33 a part of the pattern", "reg.io/eyJ.secret.token/", "u", "p", true},
		{"CRP-33 a part of the token is not the token", "reg.io", "u", "eyJ.secret", false},
		{"CRP-33 another token", "reg.io", "u", "eyJ.secret.tokem", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			response := credprovider.Response{Auth: map[string]credprovider.AuthConfig{
				c.pattern: {Username: c.username, Password: redact.New(c.password)}, "other.io": {},
			}}
			if got := response.Holds(token); got != c.want {
				t.Errorf("Holds = %v, want %v", got, c.want)
			}
		})
	}
	t.Run("CRP-33 an empty token is in no answer, and no token in an empty one", func(t *testing.T) {
		response := credprovider.Response{Auth: map[string]credprovider.AuthConfig{"": {}}}
		if response.Holds(redact.Text{}) || (credprovider.Response{}).Holds(token) {
			t.Error("Holds = true")
		}
	})
	t.Run("CRP-33 a token is found wherever it stands", func(t *testing.T) {
		rapid.Check(t, func(t *rapid.T) {
			token := rapid.StringN(1, 20, -1).Draw(t, "token")
			texts := [3]string{}
			texts[rapid.IntRange(0, 2).Draw(t, "where")] = rapid.String().Draw(t, "before") + token + rapid.String().Draw(t, "after")
			response := credprovider.Response{Auth: map[string]credprovider.AuthConfig{
				texts[0]: {Username: texts[1], Password: redact.New(texts[2])},
			}}
			if !response.Holds(redact.New(token)) {
				t.Fatalf("Holds(%q) = false in %q", token, texts)
			}
		})
	})
}
