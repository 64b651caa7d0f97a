package credprovider_test

import (
	"errors"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/lanyard-dev/lanyard/credprovider"
)

func TestParseImage(t *testing.T) {
	sha := "sha256:" + strings.Repeat("a", 64)
	for reference, want := range map[string]credprovider.Image{
		"ubuntu":                      {Repository: "docker.io/library/ubuntu"},
		"foo/bar:1":                   {Repository: "docker.io/foo/bar", Tag: "1"},
		"index.docker.io/x":           {Repository: "docker.io/library/x"},
		"docker.io/foo/bar":           {Repository: "docker.io/foo/bar"},
		"localhost/x":                 {Repository: "localhost/x"},
		"localhost:5000/x:v1":         {Repository: "localhost:5000/x", Tag: "v1"},
		"[::1]:5000/x":                {Repository: "[::1]:5000/x"},
		"REG.example.io/x":            {Repository: "REG.example.io/x"},
		"reg.io/a__b/c-_d@" + sha:     {},
		"reg.io/a__b/c---d:t@" + sha:  {Repository: "reg.io/a__b/c---d", Tag: "t", Digest: sha},
		"reg.io/" + longPath(255):     {Repository: "reg.io/" + longPath(255)},
		"reg.io/" + longPath(256):     {},
		"a..b/c":                      {},
		"localhost:5000":              {Repository: "docker.io/library/localhost", Tag: "5000"},
		"Ubuntu":                      {},
		"reg.io/App":                  {},
		"reg.io/a:":                   {},
		"reg.io/a:" + longPath(129):   {},
		"reg.io/a@sha256:abc":         {},
		"reg.io/a@md5:" + longPath(8): {},
		"":                            {},
		"/a":                          {},
		"a//b":                        {},
		"-a.io/x":                     {},
		"reg.io:port/x":               {},
		"https://reg.io/x":            {},
		strings.Repeat("a", 64):       {},
	} {
		t.Run("CRP-4 "+reference, func(t *testing.T) {
			got, err := credprovider.ParseImage(reference)
			if got != want {
				t.Errorf("ParseImage(%q) = %+v, %v, want %+v", reference, got, err, want)
			}
			if (want == credprovider.Image{}) != errors.Is(err, credprovider.ErrReference) {
				t.Errorf("ParseImage(%q) error = %v", reference, err)
			}
		})
	}
}

func longPath(n int) string { return strings.Repeat("p", n) }

func TestParseImageLaws(t *testing.T) {
	t.Run("CRP-4 normal form is a fixed point", rapid.MakeCheck(func(t *rapid.T) {
		reference := rapid.StringMatching(`([a-z]{1,3}(\.[a-z]{1,3})?(:[0-9]{1,4})?/)?[a-z0-9]{1,4}([._-][a-z0-9]{1,3})?(:[A-Za-z0-9_]{1,5})?`).Draw(t, "reference")
		first, err := credprovider.ParseImage(reference)
		if err != nil {
			return
		}
		again, err := credprovider.ParseImage(first.Repository)
		if err != nil || again != (credprovider.Image{Repository: first.Repository}) {
			t.Fatalf("ParseImage(%q) = %+v, %v, want the repository itself", first.Repository, again, err)
		}
	}))
}

func FuzzParseImage(f *testing.F) {
	for _, s := range []string{"ubuntu", "a/b:c", "[::1]:5000/x", "reg.io/a@sha256:" + strings.Repeat("0", 64), "a__b", "é/é", "::", "@"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, reference string) {
		image, err := credprovider.ParseImage(reference)
		if err != nil {
			return
		}
		if again, err := credprovider.ParseImage(image.Repository); err != nil || again.Repository != image.Repository {
			t.Fatalf("ParseImage(%q) = %+v, %v", image.Repository, again, err)
		}
	})
}
