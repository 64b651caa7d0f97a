package credprovider_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/lanyard-dev/lanyard/credprovider"
)

func keyring(provider string, keys ...string) *credprovider.Keyring {
	auth := map[string]credprovider.AuthConfig{}
	for _, key := range keys {
		auth[key] = credprovider.AuthConfig{Username: key}
	}
	return credprovider.NewKeyring(provider, nil, auth)
}

func usernames(found []credprovider.Credential) []string {
	var all []string
	for _, c := range found {
		all = append(all, c.Provider+":"+c.Username)
	}
	return all
}

func TestCredentials(t *testing.T) {
	cases := []struct {
		name, image string
		answers     []*credprovider.Keyring
		want        []string
	}{
		{
			"CRP-4 upstream's order", "a.reg.io/x/y",
			[]*credprovider.Keyring{keyring("p", "*.*.io", "a.reg.io", "a.reg.io/x", "app*.reg.io", "a.reg.io/x/y", "*.reg.io", "*")},
			[]string{"p:a.reg.io/x/y", "p:a.reg.io/x", "p:a.reg.io", "p:*.reg.io", "p:*.*.io"},
		},
		{
			"CRP-17 under one pattern the earlier provider first", "reg.io/x",
			[]*credprovider.Keyring{keyring("p", "reg.io"), nil, keyring("q", "reg.io", "reg.io/x")},
			[]string{"q:reg.io/x", "p:reg.io", "q:reg.io"},
		},
		{
			"CRP-4 scheme and version of a key are dropped", "quay.io/x",
			[]*credprovider.Keyring{keyring("p", "https://quay.io/v1/"), keyring("q", "http://quay.io/v2/x", "quay.io/")},
			[]string{"q:http://quay.io/v2/x", "p:https://quay.io/v1/", "q:quay.io/"},
		},
		{"CRP-4 default registry", "docker.io/library/ubuntu", []*credprovider.Keyring{keyring("p", "https://index.docker.io/v1/")}, []string{"p:https://index.docker.io/v1/"}},
		{"CRP-4 a match keeps the default registry's out", "docker.io/library/ubuntu", []*credprovider.Keyring{keyring("p", "https://index.docker.io/v1/", "docker.io")}, []string{"p:docker.io"}},
		{"CRP-4 no default for another registry", "reg.io/ubuntu", []*credprovider.Keyring{keyring("p", "index.docker.io")}, nil},
		{"CRP-4 a key that does not match is not used", "reg.io/x", []*credprovider.Keyring{keyring("p", "other.io")}, nil},
		{"CRP-4 no answers", "reg.io/x", nil, nil},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if got := usernames(credprovider.Credentials(c.image, c.answers...)); !slices.Equal(got, c.want) {
				t.Errorf("Credentials(%q) = %v, want %v", c.image, got, c.want)
			}
		})
	}
	t.Run("CRP-17 a key that is no pattern is told, the others count", func(t *testing.T) {
		k := keyring("p", "a.io:*", "%zz", "reg.io")
		if !slices.Equal(k.Skipped(), []string{"%zz", "a.io:*"}) || k.Len() != 1 {
			t.Errorf("Skipped = %q, Len = %d", k.Skipped(), k.Len())
		}
	})
	t.Run("CRP-20 a credential carries its account", func(t *testing.T) {
		account := &credprovider.AccountRef{Namespace: "ns", Name: "sa", UID: "u"}
		found := credprovider.Credentials("a.io/x", credprovider.NewKeyring("p", account, map[string]credprovider.AuthConfig{"a.io": {}}))
		if len(found) != 1 || found[0].Account == nil || *found[0].Account != *account {
			t.Errorf("Credentials = %+v", found)
		}
	})
}

func TestIsDefaultRegistry(t *testing.T) {
	for image, want := range map[string]bool{
		"foo/bar": true, "docker.io/foo/bar": true, "index.docker.io/foo/bar": true, "foo": true,
		"": false, "registry.tld/foo/bar": false, "registry:5000/foo/bar": false, "myhostdocker.io/foo/bar": false, "/x": false,
	} {
		t.Run("CRP-4 "+image, func(t *testing.T) {
			if got := credprovider.IsDefaultRegistry(image); got != want {
				t.Errorf("IsDefaultRegistry(%q) = %v, want %v", image, got, want)
			}
		})
	}
}

func TestCredentialsLaws(t *testing.T) {
	t.Run("CRP-4 all that match, in reverse order of pattern, providers in order", rapid.MakeCheck(func(t *rapid.T) {
		image := imageText().Draw(t, "image") + "/x"
		var answers []*credprovider.Keyring
		count := 0
		for i := range rapid.IntRange(0, 3).Draw(t, "providers") {
			keys := rapid.SliceOfNDistinct(patternText(), 0, 4, rapid.ID[string]).Draw(t, "keys")
			answers = append(answers, keyring(string(rune('a'+i)), keys...))
			for _, key := range keys {
				if p, err := credprovider.Compile(key); err == nil && p.Match(image) {
					count++
				}
			}
		}
		found := credprovider.Credentials(image, answers...)
		if len(found) < count {
			t.Fatalf("Credentials(%q) has %d, want at least %d", image, len(found), count)
		}
		if !slices.IsSortedFunc(found, func(a, b credprovider.Credential) int {
			switch {
			case a.Pattern > b.Pattern || a.Pattern == b.Pattern && a.Provider <= b.Provider:
				return 0
			}
			return 1
		}) {
			t.Fatalf("Credentials(%q) out of order: %v", image, found)
		}
	}))
}
