package configfile_test

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lanyard-dev/lanyard/credprovider"
	"github.com/lanyard-dev/lanyard/credprovider/configfile"
)

const head = "apiVersion: kubelet.config.k8s.io/v1\nkind: CredentialProviderConfig\n"

func names(c credprovider.Config) []string {
	var all []string
	for _, p := range c.Providers {
		all = append(all, p.Name)
	}
	return all
}

func TestLoad(t *testing.T) {
	t.Run("CRP-1 a file with every field", func(t *testing.T) {
		loaded, err := configfile.Load("testdata/tokens.yaml")
		if err != nil {
			t.Fatal(err)
		}
		if err := credprovider.Validate(loaded.Config, credprovider.Gates{KubeletServiceAccountTokenForCredentialProviders: true}); err != nil {
			t.Error(err)
		}
		p := loaded.Config.Providers[0]
		token := p.TokenAttributes
		if p.Name != "acr-credential-provider" || *p.DefaultCacheDuration != credprovider.Duration(10*time.Minute) || p.Env[0].Value.Reveal() != "eu" || p.Args[0].Reveal() != "--verbose" ||
			token.ServiceAccountTokenAudience != "my-audience" || token.CacheType != credprovider.CacheByServiceAccount || !*token.RequireServiceAccount ||
			token.RequiredServiceAccountAnnotationKeys[0] != "domain.io/identity-id" || token.OptionalServiceAccountAnnotationKeys[0] != "domain.io/some-optional-annotation" {
			t.Errorf("Load = %+v", p)
		}
	})
	t.Run("CRP-1 a directory: its files by name, all versions, left-overs not", func(t *testing.T) {
		loaded, err := configfile.Load("testdata/mixed")
		if err != nil {
			t.Fatal(err)
		}
		if got := names(loaded.Config); !slices.Equal(got, []string{"a", "b1", "b2"}) {
			t.Errorf("providers = %v", got)
		}
		if got := loaded.Config.Providers[2].Origin; got.File != filepath.Join("testdata", "mixed", "b.yml") || got.Index != 1 {
			t.Errorf("Origin = %v", got)
		}
	})
	t.Run("CRP-16 upstream's hash", func(t *testing.T) {
		loaded, err := configfile.Load("testdata/mixed")
		if err != nil {
			t.Fatal(err)
		}
		sum := sha256.New()
		for _, name := range []string{"a.json", "b.yml"} {
			data, _ := os.ReadFile(filepath.Join("testdata/mixed", name))
			sum.Write(binary.BigEndian.AppendUint64(nil, uint64(len(data))))
			sum.Write(data)
		}
		if want := fmt.Sprintf("sha256:%x", sum.Sum(nil)); loaded.Hash != want {
			t.Errorf("Hash = %q, want %q", loaded.Hash, want)
		}
	})
	t.Run("CRP-1 subdirectories are not entered, hidden files count", func(t *testing.T) {
		dir := t.TempDir()
		write(t, dir, ".x.yaml", head+"providers: [{name: hidden}]")
		if err := os.Mkdir(filepath.Join(dir, "sub.yaml"), 0o755); err != nil {
			t.Fatal(err)
		}
		loaded, err := configfile.Load(dir)
		if err != nil || !slices.Equal(names(loaded.Config), []string{"hidden"}) {
			t.Errorf("Load = %+v, %v", loaded, err)
		}
	})
	t.Run("CRP-1 one bad file fails all and is named", func(t *testing.T) {
		dir := t.TempDir()
		write(t, dir, "a.yaml", head+"providers: [{name: a}]")
		write(t, dir, "b.yaml", "kind: Other\n")
		_, err := configfile.Load(dir)
		var decode *configfile.DecodeError
		if !errors.As(err, &decode) || decode.File != filepath.Join(dir, "b.yaml") {
			t.Errorf("Load = %v, want a *DecodeError of b.yaml", err)
		}
	})
	t.Run("CRP-1 two providers of one name, both places named", func(t *testing.T) {
		dir := t.TempDir()
		write(t, dir, "a.yaml", head+"providers: [{name: x}, {name: dup}]")
		write(t, dir, "b.json", `{"apiVersion":"kubelet.config.k8s.io/v1","kind":"CredentialProviderConfig","providers":[{"name":"dup"}]}`)
		_, err := configfile.Load(dir)
		if !errors.Is(err, configfile.ErrDuplicateName) || !strings.Contains(err.Error(), "a.yaml: providers[1]") || !strings.Contains(err.Error(), "b.json: providers[0]") {
			t.Errorf("Load = %v", err)
		}
	})
	t.Run("CRP-1 paths", func(t *testing.T) {
		empty := t.TempDir()
		if _, err := configfile.Load(""); !errors.Is(err, configfile.ErrNoPath) {
			t.Errorf(`Load("") = %v`, err)
		}
		if _, err := configfile.Load(filepath.Join(empty, "none")); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("Load of nothing = %v", err)
		}
		if _, err := configfile.Load(empty); !errors.Is(err, configfile.ErrNoFiles) {
			t.Errorf("Load of an empty directory = %v", err)
		}
		write(t, empty, "big.yaml", strings.Repeat("#", configfile.MaxFileBytes+1))
		if _, err := configfile.Load(empty); !errors.Is(err, configfile.ErrTooLarge) {
			t.Errorf("Load of a huge file = %v", err)
		}
	})
}

func TestStrict(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"unknown field":                {head + "providers: [{name: a, unknownField: 1}]", `unknown field "providers[0].unknownField"`},
		"wrong case":                   {head + "providers: [{Name: a}]", `unknown field "providers[0].Name"`},
		"duplicate key in YAML":        {head + "providers: []\nproviders: []", `already set in map`},
		"duplicate key in JSON":        {`{"apiVersion":"kubelet.config.k8s.io/v1","kind":"CredentialProviderConfig","providers":[{"name":"a","name":"b"}]}`, `duplicate field "providers[0].name"`},
		"number for a duration":        {head + "providers: [{name: a, defaultCacheDuration: 10}]", "duration"},
		"number for a value":           {head + "providers: [{name: a, env: [{name: A, value: 1}]}]", "string"},
		"tokenAttributes before v1":    {strings.Replace(head, "/v1", "/v1beta1", 1) + "providers: [{name: a, tokenAttributes: {cacheType: Token}}]", `unknown field "providers[0].tokenAttributes"`},
		"other kind":                   {"apiVersion: kubelet.config.k8s.io/v1\nkind: WrongKind\n", `no kind "WrongKind" is registered for version "kubelet.config.k8s.io/v1"`},
		"other group":                  {"apiVersion: foobar/v1\nkind: CredentialProviderConfig\n", `no kind "CredentialProviderConfig" is registered for version "foobar/v1"`},
		"no kind":                      {"apiVersion: kubelet.config.k8s.io/v1\n", "Object 'Kind' is missing"},
		"no version":                   {"kind: CredentialProviderConfig\n", "Object 'apiVersion' is missing"},
		"no YAML":                      {"\tx: [", "yaml"},
		"empty":                        {"", "Object 'apiVersion' is missing"},
		"several audiences are a list": {head + "providers: [{name: a, tokenAttributes: {serviceAccountTokenAudience: [a, b]}}]", "string"},
	} {
		t.Run("CRP-1 CRP-3 "+name, func(t *testing.T) {
			_, err := configfile.Read("f.yaml", strings.NewReader(c.text))
			var decode *configfile.DecodeError
			if !errors.As(err, &decode) || !strings.Contains(err.Error(), c.want) || !strings.HasPrefix(err.Error(), `error decoding config "f.yaml": `) {
				t.Errorf("Read = %v, want %q", err, c.want)
			}
		})
	}
	t.Run("CRP-1 every unknown field is a *DecodeError of its own", func(t *testing.T) {
		_, err := configfile.Read("f.yaml", strings.NewReader(head+"providers: [{name: a, one: 1, two: 2}]"))
		joined, ok := err.(interface{ Unwrap() []error })
		if !ok || len(joined.Unwrap()) != 2 || !errors.Is(err, credprovider.ErrConfig) {
			t.Fatalf("Read = %v, want two faults", err)
		}
		for i, want := range []string{`unknown field "providers[0].one"`, `unknown field "providers[0].two"`} {
			if fault, ok := joined.Unwrap()[i].(*configfile.DecodeError); !ok || fault.File != "f.yaml" || fault.Reason != want {
				t.Errorf("fault %d = %v, want %s", i, joined.Unwrap()[i], want)
			}
		}
	})
	t.Run("MOD-9 CRP-22 the value of an env entry and an argument are in no error", func(t *testing.T) {
		for _, text := range []string{
			"env: [{name: A, value: {hunter2: 1}}]", "env: [{name: A, value: hunter2, value: hunter3}]", "env: [{name: A, value: hunter2, Value: hunter2}]",
			"env: [{name: A, value: 4711472}]", "args: [[hunter2]]", "args: hunter2", "args: [4711472]", "args: [hunter2], args: [hunter3]",
		} {
			_, err := configfile.Read("", strings.NewReader(head+"providers: [{name: a, "+text+"}]"))
			if shown := fmt.Sprintf("%v %#v", err, err); err == nil || strings.Contains(shown, "hunter") || strings.Contains(shown, "4711") {
				t.Errorf("Read = %s", shown)
			}
		}
	})
	t.Run("CRP-1 the second YAML document is not read, as upstream has it", func(t *testing.T) {
		loaded, err := configfile.Read("", strings.NewReader(head+"providers: [{name: a}]\n---\nkind: Other\n"))
		if err != nil || len(loaded.Config.Providers) != 1 {
			t.Errorf("Read = %+v, %v", loaded, err)
		}
	})
}

func write(t *testing.T, dir, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// FuzzRead holds that whatever is read keeps its meaning when it is written as JSON and read again.
func FuzzRead(f *testing.F) {
	for _, path := range []string{"testdata/tokens.yaml", "testdata/mixed/a.json", "testdata/mixed/b.yml"} {
		data, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Add([]byte(head + "providers: [{name: a, name: b}]"))
	f.Add([]byte("a: &a [*a]"))
	f.Fuzz(func(t *testing.T, data []byte) {
		loaded, err := configfile.Read("", strings.NewReader(string(data)))
		if err != nil {
			return
		}
		_ = credprovider.Validate(loaded.Config, credprovider.Gates{})
		again, err := configfile.Read("", strings.NewReader(encode(t, loaded.Config)))
		if err != nil {
			t.Fatalf("reading again = %v", err)
		}
		if first, second := encode(t, loaded.Config), encode(t, again.Config); first != second {
			t.Fatalf("%s\nbecame %s", first, second)
		}
	})
}
