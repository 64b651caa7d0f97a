package kubeconfig_test

import (
	"bytes"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/lanyard-dev/lanyard/execcredential"
	"github.com/lanyard-dev/lanyard/execcredential/kubeconfig"
	"github.com/lanyard-dev/lanyard/redact"
)

func configs(t *rapid.T, label string) *kubeconfig.Config {
	name := rapid.SampledFrom([]string{"a", "b", "c"})
	text := rapid.StringMatching(`[ -~é\n]{0,12}`)
	config := &kubeconfig.Config{CurrentContext: rapid.SampledFrom([]string{"", "a", "x"}).Draw(t, label+" current")}
	for _, n := range rapid.SliceOfNDistinct(name, 0, 3, rapid.ID).Draw(t, label+" users") {
		config.Users = append(config.Users, kubeconfig.NamedUser{Name: n, User: kubeconfig.User{
			Token: redact.New(text.Draw(t, "token")),
			Exec: &execcredential.ExecConfig{
				Command: text.Draw(t, "command"), Args: redact.Texts(rapid.SliceOf(text).Draw(t, "args")...), InstallHint: text.Draw(t, "hint"),
				Env: []execcredential.EnvVar{{Name: text.Draw(t, "name"), Value: redact.New(text.Draw(t, "value"))}}, APIVersion: execcredential.V1,
			},
		}})
	}
	for _, n := range rapid.SliceOfNDistinct(name, 0, 3, rapid.ID).Draw(t, label+" contexts") {
		config.Contexts = append(config.Contexts, kubeconfig.NamedContext{Name: n, Context: kubeconfig.Context{User: text.Draw(t, "user")}})
	}
	return config
}

func TestLaws(t *testing.T) {
	t.Run("ECR-19 what is written is read back", func(t *testing.T) {
		rapid.Check(t, func(rt *rapid.T) {
			config := configs(rt, "config")
			data, err := config.Encode()
			if err != nil {
				rt.Fatal(err)
			}
			again, err := kubeconfig.Parse(bytes.NewReader(data))
			if err != nil {
				rt.Fatalf("Parse(Encode) = %v\n%s", err, data)
			}
			if data2, err := again.Encode(); err != nil || !bytes.Equal(data, data2) {
				rt.Fatalf("Encode(Parse(Encode)) = %s, %v, want %s", data2, err, data)
			}
			for i, user := range config.Users {
				got := again.Users[i].User
				if got.Token.Reveal() != user.User.Token.Reveal() || !got.Exec.Env[0].Value.Equal(user.User.Exec.Env[0].Value) || got.Exec.Command != user.User.Exec.Command {
					rt.Fatalf("user %q = %v, want %v", user.Name, got.Exec, user.User.Exec)
				}
			}
		})
	})
	t.Run("ECR-19 merging is associative, idempotent and has an identity", func(t *testing.T) {
		rapid.Check(t, func(rt *rapid.T) {
			a, b, c := configs(rt, "a"), configs(rt, "b"), configs(rt, "c")
			left, right := kubeconfig.Merge(kubeconfig.Merge(a, b), c), kubeconfig.Merge(a, kubeconfig.Merge(b, c))
			if !reflect.DeepEqual(left, right) {
				rt.Fatalf("Merge is not associative: %+v, %+v", left, right)
			}
			if got := kubeconfig.Merge(a, a); !reflect.DeepEqual(got, kubeconfig.Merge(a)) {
				rt.Fatalf("Merge(a, a) = %+v, want %+v", got, a)
			}
			if got := kubeconfig.Merge(&kubeconfig.Config{}, a, &kubeconfig.Config{}); !reflect.DeepEqual(got, kubeconfig.Merge(a)) {
				rt.Fatalf("Merge with empty = %+v, want %+v", got, a)
			}
		})
	})
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(example))
	f.Add([]byte(`{"users":[{"name":"u","user":{"auth-provider":null,"exec":null}}],"preferences":{"a":1}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		config, err := kubeconfig.Parse(bytes.NewReader(data))
		if err != nil {
			return
		}
		_, _ = config.Resolve("", kubeconfig.Overrides{CertificateAuthority: "/nonexistent"})
		text, err := config.Encode()
		if err != nil {
			t.Fatalf("Encode of a parsed configuration: %v", err)
		}
		if _, err := kubeconfig.Parse(strings.NewReader(string(text))); err != nil {
			t.Fatalf("Parse(Encode) = %v\n%s", err, text)
		}
	})
}
