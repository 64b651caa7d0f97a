package main

import (
	"archive/tar"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"

	"github.com/lanyard-dev/lanyard/supgroups/cmd/supgroups/internal/report"
)

// hostile holds what a terminal obeys or a reader is misled by: an escape sequence, a bell, DEL, C1 as UTF-8 and as a
// byte, a right-to-left override, a line separator and a tag character.
const hostile = "\x1b]0;x\x07\x7f\u009b31m\x9b31m\u202e\u2028\U000e0041"

// driving returns the first thing in s that no terminal should get, quoted, or "".
func driving(s string) string {
	for i, r := range s {
		if r != '\n' && (!strconv.IsPrint(r) || r == utf8.RuneError && !strings.HasPrefix(s[i:], "\ufffd")) {
			return fmt.Sprintf("%+q at byte %d of %+q", r, i, s)
		}
	}
	return ""
}

func checkTerminal(t *testing.T, out, errs string) {
	t.Helper()
	if d := driving(out); d != "" {
		t.Errorf("standard output has %s", d)
	}
	if d := driving(errs); d != "" {
		t.Errorf("standard error has %s", d)
	}
}

// linkImage is an image whose etc/passwd is a symbolic link.
func linkImage(tb testing.TB, target string) v1.Image {
	tb.Helper()
	l, err := tarball.LayerFromOpener(func() (io.ReadCloser, error) {
		var b bytes.Buffer
		w := tar.NewWriter(&b)
		h := &tar.Header{Name: "etc/passwd", Linkname: target, Typeflag: tar.TypeSymlink, Format: tar.FormatGNU}
		if err := w.WriteHeader(h); err != nil {
			return nil, err
		}
		return io.NopCloser(&b), w.Close()
	})
	check(tb, err)
	image, err := mutate.AppendLayers(empty.Image, l)
	check(tb, err)
	return image
}

// hostileRegistry answers every request with an error in its own words, and returns its address.
func hostileRegistry(tb testing.TB) string {
	tb.Helper()
	body, err := json.Marshal(map[string]any{"errors": []any{map[string]any{"code": "DENIED", "message": hostile + "\nsupgroups: all is well"}}})
	check(tb, err)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusForbidden)
		w.Write(body)
	}))
	tb.Cleanup(server.Close)
	return strings.TrimPrefix(server.URL, "http://")
}

func TestTerminal(t *testing.T) {
	dir := t.TempDir()
	const pod = `{"metadata":{"name":"p"},"spec":{"securityContext":{"runAsUser":5},"containers":[{"name":"c","image":%q}]}}`
	link := writeArchive(t, filepath.Join(dir, "link.tar"), linkImage(t, "/"+hostile))
	ref := hostileRegistry(t) + "/app:1"
	evil := writeArchive(t, filepath.Join(dir, "evil.tar"), makeImage(t, "a", map[string]string{
		"etc/passwd": "a:x:5:5\n", "etc/group": "g" + hostile + ":x:8:a\n",
	}))
	one := func(image string) string { return fmt.Sprintf(pod, image) }
	many := func(image string) string { return `{"items":[` + one(image) + `]}` }

	t.Run("GRP-7 GRP-18 a link's target on standard error", func(t *testing.T) {
		code, out, errs := tool(one("x"), "explain", "--image", link, "--pod", "-")
		if code != 2 || out != "" || !strings.Contains(errs, `\x1b]0;x`) {
			t.Errorf("explain = %d %q %q, want 2 and the quoted target", code, out, errs)
		}
		checkTerminal(t, out, errs)
	})
	t.Run("GRP-18 a registry's words on standard error", func(t *testing.T) {
		code, out, errs := tool(one("x"), "explain", "--image", ref, "--pod", "-")
		if code != 2 || !strings.Contains(errs, "DENIED") || strings.Count(errs, "\n") != 1 {
			t.Errorf("explain = %d %q %q, want 2 and one line", code, out, errs)
		}
		checkTerminal(t, out, errs)
	})
	for _, format := range []string{"table", "json"} {
		t.Run("GRP-18 a registry's words and a link's target in a scan as "+format, func(t *testing.T) {
			for _, where := range []string{ref, link} {
				code, out, errs := tool(many("x"), "scan", "-o", format, "--image", "x="+where)
				if code != 3 || !strings.Contains(out, `]0;x`) {
					t.Errorf("scan = %d %q %q, want 3 and the reason", code, out, errs)
				}
				checkTerminal(t, out, errs)
			}
		})
		t.Run("GRP-18 a group's name as "+format, func(t *testing.T) {
			code, out, errs := tool(many("x"), "scan", "-o", format, "--image", "x="+evil)
			if code != 1 {
				t.Errorf("scan = %d %q %q, want 1", code, out, errs)
			}
			checkTerminal(t, out, errs)
			code, out, errs = tool(one("x"), "explain", "-o", format, "--image", evil, "--pod", "-")
			if code != 0 || !strings.Contains(out, `]0;x`) {
				t.Errorf("explain = %d %q %q, want 0", code, out, errs)
			}
			checkTerminal(t, out, errs)
		})
		t.Run("GRP-18 names of a manifest as "+format, func(t *testing.T) {
			name, err := json.Marshal(hostile)
			check(t, err)
			text := fmt.Sprintf(`{"metadata":{"name":%[1]s,"namespace":%[1]s},"spec":{"containers":[{"name":%[1]s,"image":%[1]s}]}}`, name)
			for _, args := range [][]string{{"explain", "--image", evil, "--pod", "-"}, {"explain", "--pod", "-"}} {
				_, out, errs := tool(text+"\n---\n"+text, append(args, "-o", format)...)
				checkTerminal(t, out, errs)
			}
			code, out, errs := tool(`{"items":[`+text+`]}`, "scan", "-o", format)
			if code != 3 {
				t.Errorf("scan = %d %q, want 3", code, errs)
			}
			checkTerminal(t, out, errs)
		})
	}
	t.Run("GRP-18 JSON still says the same name", func(t *testing.T) {
		_, out, _ := tool(one("x"), "explain", "-o", "json", "--image", evil, "--pod", "-")
		var got []report.Explanation
		check(t, json.Unmarshal([]byte(out), &got))
		if want := "g" + strings.ToValidUTF8(hostile, "\ufffd"); got[0].Groups[1].ImageName != want {
			t.Errorf("imageName = %+q, want %+q", got[0].Groups[1].ImageName, want)
		}
	})
	t.Run("GRP-18 file names, flags and manifests that cannot be read", func(t *testing.T) {
		for _, args := range [][]string{
			{"explain", "--pod", filepath.Join(dir, hostile)},
			{"explain", "--image", "./" + hostile, "--pod", "testdata/kep-pod.yaml"},
			{"explain", "--image", "/" + hostile, "--pod", "testdata/kep-pod.yaml"},
			{"scan", filepath.Join(dir, hostile)},
			{"scan", "--image", hostile},
			{"scan", "--" + hostile},
			{"scan", "--platform", hostile + "/a/b/c"},
			{"scan", "-o", hostile},
			{hostile},
		} {
			code, out, errs := tool(`{"items":[]}`, args...)
			if code != 2 || errs == "" {
				t.Errorf("%+q = %d %q, want 2 and a message", args, code, errs)
			}
			checkTerminal(t, out, errs)
		}
		for _, text := range []string{"a: *" + hostile, "kind: \"\\e[2J\\u202e\"\n", "spec: {containers: " + hostile + "}", "\x1b", "{\"spec\": " + hostile} {
			code, out, errs := tool(text, "explain", "--pod", "-")
			if code != 2 || errs == "" {
				t.Errorf("%+q = %d %q, want 2 and a message", text, code, errs)
			}
			checkTerminal(t, out, errs)
			code, out, errs = tool(text, "scan")
			if code != 2 || errs == "" {
				t.Errorf("%+q = %d %q, want 2 and a message", text, code, errs)
			}
			checkTerminal(t, out, errs)
		}
	})
	t.Run("GRP-18 a name with blanks cannot pass for several columns", func(t *testing.T) {
		text := `{"items":[{"metadata":{"name":"p  c  Strict","namespace":"n"},"spec":{"containers":[{"name":"c","image":"x"}]}}]}`
		code, out, _ := tool(text, "scan", "--image", "x="+evil)
		if code != 1 || !strings.Contains(out, `"p  c  Strict"`) {
			t.Errorf("scan = %d\n%s", code, out)
		}
	})
}
