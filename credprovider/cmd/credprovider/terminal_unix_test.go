//go:build unix

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/lanyard-dev/lanyard/internal/terminal"
)

// hostile holds what a terminal obeys or a reader is misled by: an escape sequence, a bell, DEL, C1 as UTF-8 and as a
// byte, a right-to-left override, a line separator, a tag character and line breaks.
const hostile = "\x1b]0;x\x07\x7f\u009b31m\x9b31m\u202e\u2028\U000e0041\r\nwarning: all is well"

// driving returns the first thing in text that no terminal should get, or the line that hostile has forged; else "".
func driving(text string) string {
	for i, r := range text {
		if r != '\n' && !strconv.IsPrint(r) || r == utf8.RuneError && !strings.HasPrefix(text[i:], "\ufffd") {
			return fmt.Sprintf("%+q at byte %d of %+q", r, i, text)
		}
	}
	if strings.Contains(text, "\nwarning: all is well") {
		return fmt.Sprintf("a forged line: %+q", text)
	}
	return ""
}

// hostileConfig writes a configuration whose fields are harmless, apart from those in changes.
func hostileConfig(t *testing.T, changes ...string) string {
	t.Helper()
	fields := map[string]string{
		"VERSION": "kubelet.config.k8s.io/v1", "NAME": "team", "PATTERN": "*.example.io", "DURATION": "1m", "SPEAKS": "credentialprovider.kubelet.k8s.io/v1",
		"ARG": "login", "ENV": "NAME", "AUDIENCE": "example.io", "TYPE": "Token", "NEEDED": "team.io/id", "UNKNOWN": "args",
	}
	for i := 0; i < len(changes); i += 2 {
		fields[changes[i]] = changes[i+1]
	}
	text := `{apiVersion: VERSION, kind: CredentialProviderConfig, providers: [{name: NAME, matchImages: [PATTERN], defaultCacheDuration: DURATION,
  apiVersion: SPEAKS, UNKNOWN: [ARG], env: [{name: ENV, value: v}],
  tokenAttributes: {serviceAccountTokenAudience: AUDIENCE, cacheType: TYPE, requireServiceAccount: true, requiredServiceAccountAnnotationKeys: [NEEDED]}}]}
`
	for name, value := range fields {
		text = strings.ReplaceAll(text, name+"]", strconv.QuoteToASCII(value)+"]")
		text = strings.ReplaceAll(text, name+",", strconv.QuoteToASCII(value)+",")
		text = strings.ReplaceAll(text, name+":", strconv.QuoteToASCII(value)+":")
	}
	return file(t, "c.yaml", text)
}

// hostilePlugin prints hostile on standard error and output on standard output, byte by byte as they are.
func hostilePlugin(t *testing.T, output string, code int) string {
	t.Helper()
	return file(t, "plugin", fmt.Sprintf("#!/bin/sh\ncat >/dev/null; cat '%s' >&2; cat '%s'; exit %d\n", file(t, "err", hostile), file(t, "out", output), code))
}

// hostileObject is YAML with hostile text in every field that a report may show.
func hostileObject(kind string) string {
	return strings.ReplaceAll(`{kind: `+kind+`, metadata: {namespace: EVIL, name: EVIL, uid: EVIL, annotations: {team.io/id: EVIL, EVIL: EVIL}},
  spec: {serviceAccountName: EVIL, containers: [{name: EVIL, image: EVIL}]}}`, "EVIL", strconv.QuoteToASCII(hostile))
}

// TestHostileText gives the tool hostile text at each of its inputs. Want is how it has to be shown, or the fault that
// it makes, so that each case really gets as far as the output.
func TestHostileText(t *testing.T) {
	const image = "reg.example.io/a"
	valid := strings.ToValidUTF8(hostile, "") // for names of files, which not every system takes otherwise
	dir := filepath.Join(t.TempDir(), valid)  // holds files that are there and no good
	for _, sub := range []string{"", "conf", "bin"} {
		if err := os.MkdirAll(filepath.Join(dir, sub), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range map[string]string{
		"good.yaml": config, "conf/bad.yaml": strings.Replace(config, "cacheType: Token, ", "", 1), "empty": "", "kind.yaml": "kind: Node", "broken.yaml": "a: [", "bin/team": "",
		"pod.yaml": "kind: Pod", "account.yaml": "kind: ServiceAccount",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	in := func(name string) string { return filepath.Join(dir, name) }
	good, podFile := file(t, "c.yaml", config), file(t, "pod.json", pod)
	account := file(t, "sa.yaml", hostileObject("ServiceAccount"))
	answer := func(kind, version, keyType, registry string) string {
		return fmt.Sprintf(`{"kind":%s,"apiVersion":%s,"cacheKeyType":%s,"auth":{%s:{"username":"u","password":"p"}}}`,
			escaped(t, kind), escaped(t, version), escaped(t, keyType), escaped(t, registry))
	}
	const v1 = "credentialprovider.kubelet.k8s.io/v1"
	type input struct {
		args []string
		want string
	}
	cases := map[string]input{
		"CRP-2 a path that is missing":            {[]string{"validate", "/nonexistent/" + hostile}, "]0;x"},
		"CRP-2 a file's name before a fault":      {[]string{"validate", in("conf/bad.yaml")}, "Required value"},
		"CRP-1 a directory's name before a fault": {[]string{"validate", in("conf")}, "Required value"},
		"CRP-1 a directory without files":         {[]string{"validate", in("bin")}, "no configuration files"},
		"CRP-2 a file of hostile bytes":           {[]string{"validate", file(t, "c.yaml", hostile)}, "decoding"},
		"CRP-2 a value of hostile bytes":          {[]string{"validate", file(t, "c.yaml", "kind: *"+hostile)}, "decoding"},
		"CRP-2 a configuration's version":         {[]string{"validate", hostileConfig(t, "VERSION", hostile)}, "]0;x"},
		"CRP-2 a provider's name":                 {[]string{"validate", hostileConfig(t, "NAME", hostile)}, "]0;x"},
		"CRP-2 a pattern":                         {[]string{"validate", hostileConfig(t, "PATTERN", hostile)}, "]0;x"},
		"CRP-23 a pattern in a warning":           {[]string{"validate", hostileConfig(t, "PATTERN", "reg.io/\x1b]0;x\u202eA")}, "]0;x"},
		"CRP-2 a duration":                        {[]string{"validate", hostileConfig(t, "DURATION", hostile)}, "]0;x"},
		"CRP-2 a provider's version":              {[]string{"validate", hostileConfig(t, "SPEAKS", hostile)}, "]0;x"},
		"CRP-2 a cache type":                      {[]string{"validate", hostileConfig(t, "TYPE", hostile)}, "]0;x"},
		"CRP-7 an annotation's key":               {[]string{"validate", hostileConfig(t, "NEEDED", hostile)}, "]0;x"},
		"CRP-2 an unknown field":                  {[]string{"validate", hostileConfig(t, "UNKNOWN", hostile)}, "unknown field"},
		"CRP-2 an audience":                       {[]string{"validate", hostileConfig(t, "AUDIENCE", hostile)}, "1 providers"},
		"CRP-28 a plugin directory, missing":      {[]string{"validate", good, "--bin-dir", "/nonexistent/" + hostile}, "]0;x"},
		"CRP-28 a plugin directory that is one":   {[]string{"validate", good, "--bin-dir", in("bin")}, "team"},
		"CRP-28 a plugin directory, a file":       {[]string{"validate", good, "--bin-dir", in("empty")}, "not a directory"},
		"CRP-23 a missing configuration":          {[]string{"explain", "--config", "/nonexistent/" + hostile, "--image", image}, "]0;x"},
		"CRP-23 a missing pod":                    {[]string{"explain", "--config", good, "--pod", "/nonexistent/" + hostile}, "]0;x"},
		"CRP-23 a pod without images":             {[]string{"explain", "--config", good, "--pod", in("pod.yaml")}, "no images"},
		"CRP-23 a pod of another kind":            {[]string{"explain", "--config", good, "--pod", in("kind.yaml")}, "Node"},
		"CRP-23 a pod that is no YAML":            {[]string{"explain", "--config", good, "--pod", in("broken.yaml")}, "broken.yaml"},
		"CRP-23 a pod of hostile bytes":           {[]string{"explain", "--config", good, "--pod", file(t, "pod", "a: *"+hostile)}, "pod: "},
		"CRP-23 a pod of a hostile kind":          {[]string{"explain", "--config", good, "--pod", file(t, "pod", "kind: "+strconv.QuoteToASCII(hostile))}, "]0;x"},
		"CRP-23 a pod of a wrong type":            {[]string{"explain", "--config", good, "--pod", file(t, "pod", "spec: "+strconv.QuoteToASCII(hostile))}, "pod: "},
		"CRP-23 a missing account":                {[]string{"explain", "--config", good, "--image", image, "--service-account", "/nonexistent/" + hostile}, "]0;x"},
		"CRP-23 an account without a name":        {[]string{"explain", "--config", good, "--image", image, "--service-account", in("account.yaml")}, "no name"},
		"CRP-23 an unknown flag":                  {[]string{"explain", "--" + hostile}, "]0;x"},
		"CRP-23 a flag's value":                   {[]string{"explain", "--json=" + hostile}, "]0;x"},
		"CRP-23 an unknown command":               {[]string{hostile}, "]0;x"},
		"CRP-23 a nearly known command":           {[]string{"validat\x1b"}, `validat\x1b`},
		"CRP-24 a missing token file":             {[]string{"check-plugin", "/x", "--token-file", "/nonexistent/" + hostile}, "]0;x"},
		"CRP-24 a token file without a token":     {[]string{"check-plugin", "/x", "--token-file", in("empty")}, "no token"},
		"CRP-24 an annotation that is none":       {[]string{"check-plugin", "/x", "--annotation", hostile}, "]0;x"},
		"CRP-24 a timeout":                        {[]string{"check-plugin", "/x", "--timeout", hostile}, "]0;x"},
	}
	// With --json too.
	for name, c := range map[string]input{
		"CRP-23 an image":                           {[]string{"explain", "--config", good, "--pod", podFile, "--image", image + hostile}, "31m"},
		"CRP-23 a configuration's name":             {[]string{"explain", "--config", in("conf"), "--image", image}, "conf/bad.yaml"},
		"CRP-23 a provider's name and pattern":      {[]string{"explain", "--config", hostileConfig(t, "NAME", hostile, "PATTERN", hostile), "--image", image}, "31m"},
		"CRP-23 a pattern that matches nothing":     {[]string{"explain", "--config", hostileConfig(t, "PATTERN", "other.io/\x1b]0;x\u009b31m\u202e"), "--image", image}, "31m"},
		"CRP-29 an audience":                        {[]string{"explain", "--config", hostileConfig(t, "AUDIENCE", hostile), "--image", image, "--pod", podFile}, "31m"},
		"CRP-7 a missing annotation":                {[]string{"explain", "--config", hostileConfig(t, "NEEDED", hostile), "--image", image, "--service-account", account}, "31m"},
		"CRP-23 a pod":                              {[]string{"explain", "--config", good, "--pod", file(t, "pod", hostileObject("Pod"))}, "31m"},
		"CRP-23 a pod with an image":                {[]string{"explain", "--config", good, "--pod", file(t, "pod", hostileObject("Pod")), "--image", image}, "31m"},
		"CRP-23 an account and its annotations":     {[]string{"explain", "--config", good, "--image", image, "--service-account", account}, "31m"},
		"CRP-28 a plugin directory":                 {[]string{"explain", "--config", good, "--image", image, "--bin-dir", dir}, "team"},
		"CRP-24 a missing plugin":                   {[]string{"check-plugin", "/nonexistent/" + hostile}, "]0;x"},
		"CRP-24 a plugin that is not executable":    {[]string{"check-plugin", in("empty")}, "fail"},
		"CRP-24 a plugin's standard error":          {[]string{"check-plugin", hostilePlugin(t, "", 1)}, "]0;x"},
		"CRP-24 an answer that is none":             {[]string{"check-plugin", hostilePlugin(t, hostile, 0)}, "fail"},
		"CRP-24 an answer's kind":                   {[]string{"check-plugin", hostilePlugin(t, answer(hostile, v1, "Image", "reg.io"), 0)}, "fail"},
		"CRP-24 an answer's version":                {[]string{"check-plugin", hostilePlugin(t, answer("CredentialProviderResponse", hostile, "Image", "reg.io"), 0)}, "fail"},
		"CRP-24 an answer's cache key type":         {[]string{"check-plugin", hostilePlugin(t, answer("CredentialProviderResponse", v1, hostile, "reg.io"), 0)}, "fail"},
		"CRP-24 an answer's registry":               {[]string{"check-plugin", hostilePlugin(t, answer("CredentialProviderResponse", v1, "Image", "reg.io/"+hostile), 0)}, "fail"},
		"CRP-24 an image, a version, an annotation": {[]string{"check-plugin", hostilePlugin(t, "", 1), "--image", hostile, "--api-version", hostile, "--annotation", "k=" + strings.ReplaceAll(hostile, "\r\n", " "), "--cache-type", hostile}, "version"},
	} {
		cases[name] = c
		cases[name+", as JSON"] = input{append(append([]string{c.args[0]}, "--json"), c.args[1:]...), c.want}
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			_, out, problems := tool(c.args...)
			if !strings.Contains(out+problems, c.want) {
				t.Errorf("no %s in\n%+q\n%+q", c.want, out, problems)
			}
			if d := driving(out); d != "" {
				t.Errorf("standard output has %s", d)
			}
			if d := driving(problems); d != "" {
				t.Errorf("standard error has %s", d)
			}
		})
	}
	t.Run("CRP-23 JSON still says the same image", func(t *testing.T) {
		_, out, _ := tool("explain", "--json", "--config", good, "--image", valid)
		var report struct{ Reference string }
		if err := json.Unmarshal([]byte(out), &report); err != nil || report.Reference != valid {
			t.Errorf("reference = %+q, %v, want %+q", report.Reference, err, valid)
		}
	})
	t.Run("CRP-2 every fault has a line of its own still", func(t *testing.T) {
		_, out, _ := tool("validate", hostileConfig(t, "SPEAKS", "v9", "TYPE", "none"), "--bin-dir", t.TempDir())
		if strings.Count(out, "\n") != 4 || strings.Contains(out, `\n`) {
			t.Errorf("validate prints %q, want four lines", out)
		}
	})
}

// escaped is text as a JSON string without a byte that a decoder may refuse or replace.
func escaped(t *testing.T, text string) string {
	t.Helper()
	data, err := json.Marshal(text)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// FuzzPrinted: whatever the text, nothing that a terminal obeys comes out, and printable text is as it was.
func FuzzPrinted(f *testing.F) {
	for _, s := range []string{"", "team", `"quoted" \x1b`, hostile, "é\ufffd", "\xff", "a\tb", "\U000e0041"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got := terminal.Escape(s)
		if driving(got) != "" || strings.Contains(got, "\n") || driving(s) == "" && !strings.Contains(s, "\n") && got != s {
			t.Fatalf("Escape(%+q) = %+q", s, got)
		}
		for _, indent := range []string{"", "  "} {
			var out strings.Builder
			if err := printJSON(&out, map[string]string{"name": s}, indent); err != nil || driving(out.String()) != "" {
				t.Fatalf("printJSON(%+q) = %+q, %v", s, out.String(), err)
			}
			var back map[string]string
			if err := json.Unmarshal([]byte(out.String()), &back); err != nil || utf8.ValidString(s) && back["name"] != s {
				t.Fatalf("printJSON(%+q) = %s, which is %+q, %v", s, out.String(), back, err)
			}
		}
	})
}
