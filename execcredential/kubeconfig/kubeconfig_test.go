package kubeconfig_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/lanyard-dev/lanyard/execcredential"
	"github.com/lanyard-dev/lanyard/execcredential/kubeconfig"
	"github.com/lanyard-dev/lanyard/redact"
)

// example is the kubeconfig of KEP-541, with an authority that a test can inline.
const example = `
apiVersion: v1
kind: Config
unknown: ignored
users:
- name: my-user
  user:
    exec:
      apiVersion: "client.authentication.k8s.io/v1"
      command: "example-client-go-exec-plugin"
      args: ["arg1", "arg2"]
      env:
      - name: "FOO"
        value: "bar"
      installHint: |
        brew install it
      provideClusterInfo: true
      interactiveMode: Never
clusters:
- name: my-cluster
  cluster:
    server: "https://1.2.3.4:8080"
    certificate-authority-data: Y2E=
    tls-server-name: name
    proxy-url: http://proxy:1
    disable-compression: true
    extensions:
    - name: other
      extension: {a: 1}
    - name: client.authentication.k8s.io/exec
      extension:
        some-config-per-cluster: config-data
        number: 12345678901234567890
contexts:
- name: my-context
  context:
    cluster: my-cluster
    user: my-user
    namespace: ns
current-context: my-context
`

func parse(t testing.TB, text string) *kubeconfig.Config {
	t.Helper()
	config, err := kubeconfig.Parse(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return config
}

func TestResolve(t *testing.T) {
	login, err := parse(t, example).Resolve("", kubeconfig.Overrides{})
	if err != nil {
		t.Fatal(err)
	}
	t.Run("ECR-19 the exec section is read as it stands", func(t *testing.T) {
		want := execcredential.ExecConfig{
			Command: "example-client-go-exec-plugin", Args: redact.Texts("arg1", "arg2"), Env: []execcredential.EnvVar{{Name: "FOO", Value: redact.New("bar")}},
			APIVersion: execcredential.V1, InstallHint: "brew install it\n", ProvideClusterInfo: true, InteractiveMode: execcredential.InteractiveNever,
		}
		if got := login.Exec; got == nil || !reflect.DeepEqual(*got, want) || login.Method != kubeconfig.MethodExec {
			t.Errorf("Exec = %+v, want %+v", got, want)
		}
	})
	t.Run("ECR-4 ECR-19 the cluster's extension is its configuration, unchanged", func(t *testing.T) {
		want := `{"number":12345678901234567890,"some-config-per-cluster":"config-data"}`
		if got := string(login.Cluster.Config.Reveal()); got != want {
			t.Errorf("Config = %s, want %s", got, want)
		}
	})
	t.Run("ECR-26 the cluster is what the client uses", func(t *testing.T) {
		c := login.Cluster
		if c.Server != "https://1.2.3.4:8080" || c.TLSServerName != "name" || string(c.CertificateAuthorityData) != "ca" || c.ProxyURL.Reveal() != "http://proxy:1" || !c.DisableCompression {
			t.Errorf("Cluster = %+v", c)
		}
		if login.Namespace != "ns" || login.UserName != "my-user" || login.ClusterName != "my-cluster" || login.Context != "my-context" {
			t.Errorf("Resolve = %+v", login)
		}
	})
}

func TestOverrides(t *testing.T) {
	dir := t.TempDir()
	authority := filepath.Join(dir, "ca.pem")
	if err := os.WriteFile(authority, []byte("file"), 0o600); err != nil {
		t.Fatal(err)
	}
	cases := []struct {
		name      string
		overrides kubeconfig.Overrides
		check     func(execcredential.Cluster) bool
	}{
		{"another server drops the old TLS server name", kubeconfig.Overrides{Server: "https://o"}, func(c execcredential.Cluster) bool {
			return c.Server == "https://o" && c.TLSServerName == "" && string(c.CertificateAuthorityData) == "ca"
		}},
		{"another TLS server name", kubeconfig.Overrides{TLSServerName: "o"}, func(c execcredential.Cluster) bool { return c.TLSServerName == "o" }},
		{"no check drops the authority", kubeconfig.Overrides{InsecureSkipTLSVerify: true}, func(c execcredential.Cluster) bool {
			return c.InsecureSkipTLSVerify && c.CertificateAuthorityData == nil
		}},
		{"an authority file is inlined", kubeconfig.Overrides{CertificateAuthority: authority}, func(c execcredential.Cluster) bool {
			return string(c.CertificateAuthorityData) == "file" && !c.InsecureSkipTLSVerify
		}},
		{"another proxy", kubeconfig.Overrides{ProxyURL: redact.New("http://o")}, func(c execcredential.Cluster) bool { return c.ProxyURL.Reveal() == "http://o" }},
	}
	for _, c := range cases {
		t.Run("ECR-26 "+c.name, func(t *testing.T) {
			login, err := parse(t, example).Resolve("", c.overrides)
			if err != nil || !c.check(login.Cluster) {
				t.Errorf("Resolve = %+v, %v", login, err)
			}
		})
	}
}

func TestStaticCredentialsWin(t *testing.T) {
	cases := []struct {
		name, user string
		method     kubeconfig.Method
	}{
		{"token based auth", "token: t", kubeconfig.MethodToken},
		{"a token file", "tokenFile: /f", kubeconfig.MethodToken},
		{"basic auth", "username: u\n    password: p", kubeconfig.MethodBasic},
		{"cert based auth", "client-certificate-data: YQ==\n    client-key-data: YQ==", kubeconfig.MethodCertificate},
		{"nothing static", "tokenFile: ''", kubeconfig.MethodExec},
	}
	for _, c := range cases {
		t.Run("ECR-15 KEP-541 integration: static forms of auth: "+c.name, func(t *testing.T) {
			text := strings.Replace(example, "  user:\n    exec:", "  user:\n    "+c.user+"\n    exec:", 1)
			login, err := parse(t, text).Resolve("", kubeconfig.Overrides{})
			if err != nil || login.Method != c.method || (login.Exec != nil) != (c.method == kubeconfig.MethodExec) || (login.NotRun == "") != (c.method == kubeconfig.MethodExec) {
				t.Errorf("Resolve = %+v, %v, want method %s", login, err, c.method)
			}
		})
	}
	t.Run("ECR-15 ECR-28 over plain HTTP no credential is used", func(t *testing.T) {
		login, err := parse(t, strings.Replace(example, "https://1", "http://1", 1)).Resolve("", kubeconfig.Overrides{})
		if err != nil || login.Method != kubeconfig.MethodNone || login.Exec != nil || login.NotRun == "" {
			t.Errorf("Resolve = %+v, %v, want none", login, err)
		}
	})
}

func TestResolveErrors(t *testing.T) {
	replace := func(old, new string) string { return strings.Replace(example, old, new, 1) }
	cases := []struct {
		name, text, context string
		want                error
	}{
		{"ECR-19 a context that is not there", example, "x", kubeconfig.ErrNoEntry},
		{"ECR-19 a cluster that is not there", replace("cluster: my-cluster\n", "cluster: x\n"), "", kubeconfig.ErrNoEntry},
		{"ECR-19 a user that is not there", replace("user: my-user\n", "user: x\n"), "", kubeconfig.ErrNoEntry},
		{"ECR-19 a cluster without a server", replace("server: \"https://1.2.3.4:8080\"", "server: ''"), "", kubeconfig.ErrNoServer},
		{"ECR-2 exec together with auth-provider is refused", replace("    exec:", "    auth-provider: {name: gcp}\n    exec:"), "", execcredential.ErrAuthProvider},
		{"ECR-19 token and basic", replace("    exec:", "    token: t\n    username: u\n    exec:"), "", kubeconfig.ErrAmbiguous},
		{"ECR-19 a certificate without a key", replace("    exec:", "    client-certificate: c\n    exec:"), "", kubeconfig.ErrNoKey},
		{"ECR-29 ECR-30 auth-provider alone is refused, not anonymous", example[:strings.Index(example, "    exec:")] +
			"    auth-provider: {name: oidc}\n" + example[strings.Index(example, "clusters:"):], "", kubeconfig.ErrAuthProvider},
		{"ECR-26 an authority file that is not there", replace("certificate-authority-data: Y2E=", "certificate-authority: /nonexistent/ca"), "", os.ErrNotExist},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if _, err := parse(t, c.text).Resolve(c.context, kubeconfig.Overrides{}); !errors.Is(err, c.want) {
				t.Errorf("Resolve = %v, want %v", err, c.want)
			}
		})
	}
	t.Run("ECR-2 v1 without a mode is refused, v1beta1 gets the default", func(t *testing.T) {
		text := replace("      interactiveMode: Never\n", "")
		var field *execcredential.FieldError
		if _, err := parse(t, text).Resolve("", kubeconfig.Overrides{}); !errors.As(err, &field) || field.Field != "interactiveMode" {
			t.Errorf("Resolve = %v, want *FieldError for interactiveMode", err)
		}
		login, err := parse(t, strings.Replace(text, "k8s.io/v1\"", "k8s.io/v1beta1\"", 1)).Resolve("", kubeconfig.Overrides{})
		if err != nil || login.Exec.InteractiveMode != execcredential.InteractiveIfAvailable {
			t.Errorf("Resolve = %+v, %v, want IfAvailable", login, err)
		}
	})
}

func TestImpersonation(t *testing.T) {
	with := func(t *testing.T, user string) (*kubeconfig.Resolved, error) {
		t.Helper()
		return parse(t, strings.Replace(example, "    exec:", user+"    exec:", 1)).Resolve("", kubeconfig.Overrides{})
	}
	t.Run("ECR-29 ECR-30 a plugin's login carries whom the user acts as", func(t *testing.T) {
		login, err := with(t, "    as: readonly\n    as-uid: '7'\n    as-groups: [g]\n    as-user-extra: {k: [v]}\n")
		want := execcredential.Impersonation{Name: "readonly", UID: "7", Groups: []string{"g"}, Extra: map[string][]string{"k": {"v"}}}
		if err != nil || !reflect.DeepEqual(login.Exec.Impersonate, want) {
			t.Fatalf("Resolve = %+v, %v, want impersonation %+v", login, err, want)
		}
		login.Exec.Impersonate.Extra["k"][0] = "changed"
		if login.User.Impersonate.Extra["k"][0] != "v" {
			t.Error("the login's impersonation aliases the configuration's")
		}
	})
	for _, user := range []string{"    as-uid: '7'\n", "    as-groups: [g]\n", "    as-user-extra: {k: [v]}\n", "    token: t\n    as-groups: [g]\n"} {
		t.Run("ECR-30 without a name it is refused, as kubectl does: "+strings.TrimSpace(user), func(t *testing.T) {
			var field *execcredential.FieldError
			if _, err := with(t, user); !errors.As(err, &field) || field.Field != "as" {
				t.Errorf("Resolve = %v, want *FieldError of as", err)
			}
		})
	}
}

func TestParseErrors(t *testing.T) {
	var syntax *kubeconfig.SyntaxError
	for name, text := range map[string]string{
		"no YAML": "a: [", "a list": "- a", "another kind": "kind: Pod\napiVersion: v1", "another version": "kind: Config\napiVersion: v2",
		"a wrong type": "users: 1", "an environment value that YAML reads as a boolean": "users: [{name: u, user: {exec: {env: [{name: a, value: yes}]}}}]",
	} {
		t.Run("ECR-19 "+name, func(t *testing.T) {
			if _, err := kubeconfig.Parse(strings.NewReader(text)); !errors.As(err, &syntax) {
				t.Errorf("Parse = %v, want *SyntaxError", err)
			}
		})
	}
	t.Run("ECR-28 no error repeats the document", func(t *testing.T) {
		for _, text := range []string{"users: [{user: {token: [open-sesame-4711]}}]", "open-sesame-4711", "a: open-sesame-4711: b", "users: !!int open-sesame-4711"} {
			if _, err := kubeconfig.Parse(strings.NewReader(text)); err == nil || strings.Contains(fmt.Sprintf("%v%+v%#v", err, err, err), "sesame") {
				t.Errorf("Parse(%q) = %v", text, err)
			}
		}
	})
	t.Run("ECR-19 a name that is there twice", func(t *testing.T) {
		_, err := kubeconfig.Parse(strings.NewReader("users: [{name: u}, {name: u}]"))
		if !errors.Is(err, kubeconfig.ErrDuplicate) {
			t.Errorf("Parse = %v, want ErrDuplicate", err)
		}
	})
	t.Run("ECR-19 an empty file is an empty configuration", func(t *testing.T) {
		if config := parse(t, ""); len(config.Users) != 0 {
			t.Errorf("Parse = %+v", config)
		}
	})
	t.Run("a file over the limit is a typed error", func(t *testing.T) {
		_, err := kubeconfig.Parse(strings.NewReader("#" + strings.Repeat(" ", kubeconfig.MaxFileBytes)))
		if !errors.Is(err, kubeconfig.ErrTooLarge) {
			t.Errorf("Parse = %v, want ErrTooLarge", err)
		}
	})
}

func TestRelativePaths(t *testing.T) {
	text := func(command string) string {
		return "users: [{name: u, user: {client-certificate: c.pem, client-key: /k.pem, tokenFile: t, exec: {command: '" + command + "'}}}]\n" +
			"clusters: [{name: c, cluster: {certificate-authority: ca.pem}}]"
	}
	dir := filepath.Join(string(filepath.Separator), "home", "u")
	for command, want := range map[string]string{
		"plugin":                             "plugin",
		"~":                                  "~",
		filepath.Join(".", "bin", "p"):       filepath.Join(dir, "bin", "p"),
		filepath.Join("..", "p"):             filepath.Join(filepath.Dir(dir), "p"),
		"." + string(os.PathSeparator) + "p": filepath.Join(dir, "p"),
		filepath.Join(dir, "x"):              filepath.Join(dir, "x"),
	} {
		t.Run("ECR-19 command "+command, func(t *testing.T) {
			original := parse(t, text(command))
			resolved := original.ResolvePaths(dir)
			if got := resolved.Users[0].User.Exec.Command; got != want {
				t.Errorf("Command = %q, want %q", got, want)
			}
			if original.Users[0].User.Exec.Command != command {
				t.Error("ResolvePaths changed its receiver")
			}
		})
	}
	t.Run("ECR-19 the other files are relative to the kubeconfig as well", func(t *testing.T) {
		resolved := parse(t, text("p")).ResolvePaths(dir)
		user := resolved.Users[0].User
		got := []string{user.ClientCertificate, user.ClientKey, user.TokenFile, resolved.Clusters[0].Cluster.CertificateAuthority}
		want := []string{filepath.Join(dir, "c.pem"), absoluteKey(dir), filepath.Join(dir, "t"), filepath.Join(dir, "ca.pem")}
		if !slices.Equal(got, want) {
			t.Errorf("paths = %q, want %q", got, want)
		}
	})
}

// absoluteKey is /k.pem where that is absolute, which it is not on Windows.
func absoluteKey(dir string) string {
	if filepath.IsAbs("/k.pem") {
		return "/k.pem"
	}
	return filepath.Join(dir, "/k.pem")
}

func TestLoad(t *testing.T) {
	first, second := filepath.Join(t.TempDir(), "first"), filepath.Join(t.TempDir(), "second")
	exec := func(command string) string {
		return "{exec: {command: '" + command + "', args: [" + filepath.Base(command) + "]}}"
	}
	relative := "." + string(os.PathSeparator) + "p"
	write := func(path, text string) {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(first, "current-context: ''\nusers: [{name: both, user: "+exec(relative)+"}]")
	write(second, "current-context: c\nusers: [{name: both, user: "+exec("other")+"}, {name: second, user: "+exec(relative)+"}]")
	config, err := kubeconfig.Load(first, filepath.Join(t.TempDir(), "absent"), second)
	if err != nil {
		t.Fatal(err)
	}
	t.Run("ECR-19 of several files the first entry of a name wins, and commands belong to their file's directory", func(t *testing.T) {
		var got []string
		for _, user := range config.Users {
			got = append(got, user.Name+" "+user.User.Exec.Command)
		}
		want := []string{"both " + filepath.Join(filepath.Dir(first), "p"), "second " + filepath.Join(filepath.Dir(second), "p")}
		if !slices.Equal(got, want) || config.CurrentContext != "c" {
			t.Errorf("users = %q, context %q, want %q, c", got, config.CurrentContext, want)
		}
	})
	t.Run("ECR-19 a single file has to be there", func(t *testing.T) {
		var file *kubeconfig.FileError
		if _, err := kubeconfig.Load(filepath.Join(t.TempDir(), "absent")); !errors.As(err, &file) || !errors.Is(err, os.ErrNotExist) {
			t.Errorf("Load = %v, want *FileError", err)
		}
	})
	t.Run("ECR-19 KUBECONFIG lists the files, each once; without it the one in the home directory", func(t *testing.T) {
		t.Setenv("KUBECONFIG", strings.Join([]string{first, "", second, first}, string(os.PathListSeparator)))
		if got := kubeconfig.Paths(); !slices.Equal(got, []string{first, second}) {
			t.Errorf("Paths = %q", got)
		}
		t.Setenv("KUBECONFIG", "")
		home := t.TempDir()
		t.Setenv("HOME", home)
		t.Setenv("USERPROFILE", home)
		if got := kubeconfig.Paths(); !slices.Equal(got, []string{filepath.Join(home, ".kube", "config")}) {
			t.Errorf("Paths = %q", got)
		}
	})
}

func TestSecretsAreNotPrinted(t *testing.T) {
	config := parse(t, "users: [{name: u, user: {token: sesame, password: sesame, username: x, client-key-data: c2VzYW1l, auth-provider: {config: {id-token: sesame}}, exec: {command: c, env: [{name: A, value: sesame}]}}}]")
	t.Run("ECR-28 a configuration prints none of its secrets", func(t *testing.T) {
		for _, verb := range []string{"%v", "%+v", "%#v", "%s"} {
			if text := fmt.Sprintf(verb, *config) + fmt.Sprintf(verb, config.Users[0]) + fmt.Sprintf(verb, *config.Users[0].User.Exec); strings.Contains(text, "sesame") {
				t.Errorf("Sprintf(%q) holds a secret", verb)
			}
		}
	})
}
