//go:build unix

package main

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"math/big"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/lanyard-dev/lanyard/internal/terminal"
)

// hostile holds what a terminal obeys or a reader is misled by: an escape sequence, a bell, DEL, C1 as UTF-8 and as a
// byte, a right-to-left override, a line separator, a tag character and line breaks.
const hostile = "\x1b]0;x\x07\x7f\u009b31m\x9b31m\u202e\u2028\U000e0041\r\nError: all is well"

// driving returns the first thing in text that no terminal should get, or the line that hostile has forged; else "".
func driving(text string) string {
	for i, r := range text {
		if r != '\n' && !strconv.IsPrint(r) || r == utf8.RuneError && !strings.HasPrefix(text[i:], "\ufffd") {
			return fmt.Sprintf("%+q at byte %d of %+q", r, i, text)
		}
	}
	if strings.Contains(text, "\nError: all is well") {
		return fmt.Sprintf("a forged line: %+q", text)
	}
	return ""
}

// hostileKubeconfig writes a kubeconfig whose fields are harmless, apart from those in changes.
func hostileKubeconfig(t *testing.T, changes map[string]string) string {
	t.Helper()
	fields := map[string]string{
		"CONTEXT": "dev", "CLUSTER": "c", "USER": "u", "SERVER": "https://127.0.0.1:1", "AUTHORITY": "", "PROXY": "", "COMMAND": "/nonexistent/plugin",
		"ARG": "login", "VERSION": "client.authentication.k8s.io/v1", "MODE": "Never", "HINT": "install it", "ENV": "NAME",
	}
	for name, value := range changes {
		fields[name] = value
	}
	text := `
current-context: CONTEXT
contexts: [{name: CONTEXT, context: {cluster: CLUSTER, user: USER}}]
clusters: [{name: CLUSTER, cluster: {server: SERVER, certificate-authority: AUTHORITY, proxy-url: PROXY}}]
users:
- name: USER
  user:
    exec: {command: COMMAND, args: [ARG], apiVersion: VERSION, interactiveMode: MODE, installHint: HINT, env: [{name: ENV, value: v}]}
`
	for name, value := range fields {
		text = strings.ReplaceAll(text, name, strconv.QuoteToASCII(value))
	}
	return file(t, "config", text, 0o600)
}

// hostilePlugin prints hostile on standard error and answers with output, byte by byte as it is.
func hostilePlugin(t *testing.T, output string, code int) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{"out": output, "err": hostile} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return plugin(t, fmt.Sprintf("cat '%s/err' >&2; cat '%s/out'; exit %d", dir, dir, code))
}

// answerWithSubject is an answer with a certificate of that common name.
func answerWithSubject(t *testing.T, name string) string {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, NotBefore: time.Now().Add(-2 * time.Hour), NotAfter: time.Now().Add(-time.Hour),
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := json.Marshal(map[string]any{
		"kind": "ExecCredential", "apiVersion": "client.authentication.k8s.io/v1",
		"status": map[string]string{
			"clientCertificateData": string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})),
			"clientKeyData":         string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret})),
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	return string(answer)
}

// TestTerminal gives the tool hostile text at each of its inputs. Want is how it has to be shown, so that each case
// really brings it to the output.
func TestTerminal(t *testing.T) {
	valid := strings.ToValidUTF8(hostile, "")
	const shown = `\x1b]0;x\a\x7f\u009b31m`
	dir := filepath.Join(t.TempDir(), valid) // the directory and the plugin in it exist
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	in := filepath.Join(dir, "plugin")
	if err := os.WriteFile(in, []byte("#!/bin/sh\nexit 3\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	with := func(field, value string, more ...string) []string {
		return append([]string{"explain", "--kubeconfig", hostileKubeconfig(t, map[string]string{field: value})}, more...)
	}
	good := hostileKubeconfig(t, nil)
	kind := `{"kind":` + strings.ReplaceAll(strconv.QuoteToASCII("\u009b31m\u202e"), `\x`, `\u00`) + `,"apiVersion":"client.authentication.k8s.io/v1"}`
	version := `{"kind":"ExecCredential","apiVersion":"\u001b]0;x\u0007\u007f\u009b31m"}`
	for name, c := range map[string]struct {
		args []string
		want string
	}{
		"ECR-28 a context's name":               {with("CONTEXT", hostile), shown},
		"ECR-28 a cluster's name":               {with("CLUSTER", hostile), shown},
		"ECR-28 a user's name":                  {with("USER", hostile), shown},
		"ECR-28 a server":                       {with("SERVER", "https://"+hostile), shown},
		"ECR-28 a certificate authority":        {with("AUTHORITY", "/nonexistent/"+hostile), shown},
		"ECR-28 a proxy":                        {with("PROXY", hostile), "proxy-url"},
		"ECR-28 a command that is missing":      {with("COMMAND", "/nonexistent/"+hostile), shown},
		"ECR-28 a command that is there":        {with("COMMAND", in), shown},
		"ECR-28 a command that fails":           {with("COMMAND", in, "--run"), "exited with code 3"},
		"ECR-28 an argument":                    {append(with("ARG", hostile, "--allow"), "/nonexistent/plugin"), "no such executable"},
		"ECR-28 an argument of a command":       {[]string{"explain", "--kubeconfig", hostileKubeconfig(t, map[string]string{"ARG": hostile, "COMMAND": in})}, ", 1 argument\n"},
		"ECR-28 a version":                      {with("VERSION", hostile), shown},
		"ECR-28 an interactive mode":            {with("MODE", hostile), shown},
		"ECR-12 an install hint":                {with("HINT", hostile), shown},
		"ECR-8 an environment entry's name":     {[]string{"explain", "--kubeconfig", hostileKubeconfig(t, map[string]string{"ENV": hostile, "COMMAND": in})}, shown},
		"ECR-28 a kubeconfig's path":            {[]string{"explain", "--kubeconfig", "/nonexistent/" + hostile}, shown},
		"ECR-28 --context":                      {[]string{"explain", "--kubeconfig", good, "--context", hostile}, shown},
		"ECR-28 --server":                       {[]string{"explain", "--kubeconfig", good, "--server", hostile}, shown},
		"ECR-21 --allow":                        {[]string{"explain", "--kubeconfig", good, "--allow", hostile}, "not permitted"},
		"ECR-21 --allow with a path":            {[]string{"explain", "--kubeconfig", good, "--allow", "./" + hostile + "/x"}, "is not clean"},
		"ECR-28 --timeout":                      {[]string{"explain", "--timeout", hostile}, shown},
		"ECR-28 an unknown flag":                {[]string{"explain", "--" + hostile}, shown},
		"ECR-28 an unknown command":             {[]string{hostile}, shown},
		"ECR-28 a command that is nearly known": {[]string{"explai" + "\x1b"}, `explai\x1b`},
		"ECR-28 an argument too many":           {[]string{"explain", hostile}, shown},
		"ECR-28 a file that is no YAML":         {[]string{"explain", "--kubeconfig", file(t, "config", "users: [{"+hostile, 0o600)}, "kubeconfig"},
		"ECR-28 a field of the wrong type":      {[]string{"explain", "--kubeconfig", file(t, "config", "users: "+strconv.QuoteToASCII(hostile), 0o600)}, "kubeconfig"},
		"ECR-28 standard error":                 {with("COMMAND", hostilePlugin(t, tokenAnswer, 0), "--run"), shown},
		"ECR-28 standard error of a failure":    {with("COMMAND", hostilePlugin(t, "", 4), "--run"), shown},
		"ECR-28 an answer that is none":         {with("COMMAND", hostilePlugin(t, hostile, 0), "--run"), "decode ExecCredential"},
		"ECR-6 an answer's kind":                {with("COMMAND", hostilePlugin(t, kind, 0), "--run"), "answer     "},
		"ECR-6 an answer's version":             {with("COMMAND", hostilePlugin(t, version, 0), "--run"), shown},
		"ECR-28 a certificate's subject":        {with("COMMAND", hostilePlugin(t, answerWithSubject(t, valid), 0), "--run"), shown},
		"a missing plugin to check":             {[]string{"check-plugin", "--", "/nonexistent/" + hostile}, shown},
		"a plugin to check that is a directory": {[]string{"check-plugin", "--", dir}, shown},
		"a plugin to check that fails":          {[]string{"check-plugin", "--", in}, "code 3"},
		"a plugin to check that answers badly":  {[]string{"check-plugin", "--", hostilePlugin(t, hostile, 0)}, "decode"},
		"an answer's version to check":          {[]string{"check-plugin", "--", hostilePlugin(t, version, 0)}, shown},
		"a version to check":                    {[]string{"check-plugin", "--api-version", strings.NewReplacer("\r", "", "\n", "").Replace(hostile), "--", in}, shown},
	} {
		t.Run(name, func(t *testing.T) {
			var out, errs bytes.Buffer
			run(t.Context(), c.args, &out, &errs)
			if !strings.Contains(out.String()+errs.String(), c.want) {
				t.Errorf("no %s in\n%+q\n%+q", c.want, out.String(), errs.String())
			}
			if d := driving(out.String()); d != "" {
				t.Errorf("standard output has %s", d)
			}
			if d := driving(errs.String()); d != "" {
				t.Errorf("standard error has %s", d)
			}
		})
	}
	t.Run("ECR-28 KUBECONFIG", func(t *testing.T) {
		t.Setenv("KUBECONFIG", "/nonexistent/"+strings.ReplaceAll(hostile, ":", ""))
		var out, errs bytes.Buffer
		if run(t.Context(), []string{"explain"}, &out, &errs) != 1 || !strings.Contains(errs.String(), `\x1b]0;x`) || driving(out.String()+errs.String()) != "" {
			t.Errorf("%+q, %+q", out.String(), errs.String())
		}
	})
	t.Run("ECR-28 a name with blanks cannot pass for several", func(t *testing.T) {
		var out, errs bytes.Buffer
		run(t.Context(), with("CONTEXT", "dev: cluster prod, user admin"), &out, &errs)
		if want := "context    \"dev: cluster prod, user admin\": cluster c, user u\n"; !strings.HasPrefix(out.String(), want) {
			t.Errorf("explain prints %q, want %q", out.String(), want)
		}
	})
}

// FuzzVisible: whatever the text, one line comes out that no terminal obeys, and printable text is as it was.
func FuzzVisible(f *testing.F) {
	for _, s := range []string{"", "dev", "two words", `"quoted" \x1b`, hostile, "é\ufffd", "\xff", "a\tb"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got := terminal.Escape(s)
		if driving(got) != "" || strings.Contains(got, "\n") || driving(s) == "" && !strings.Contains(s, "\n") && got != s {
			t.Fatalf("Escape(%+q) = %+q", s, got)
		}
		if got := named(s); driving(got) != "" || strings.ContainsAny(got, "\n") || got != s && got != strconv.Quote(s) {
			t.Fatalf("named(%+q) = %+q", s, got)
		}
	})
}
