package kubeletauthz_test

import (
	"net/url"
	"testing"

	"github.com/lanyard-dev/lanyard/kubeletauthz"
)

func FuzzServeMux(f *testing.F) {
	for _, target := range targets {
		f.Add("GET", target)
	}
	for _, c := range pathCases {
		f.Add("POST", c.path)
	}
	for _, c := range trickyCases {
		f.Add("GET", c.path)
		f.Add("CONNECT", (&url.URL{Path: c.path, RawPath: c.raw}).EscapedPath())
	}
	f.Fuzz(func(t *testing.T, method, target string) { route(t, method, target) })
}

func FuzzParseMinor(f *testing.F) {
	for _, text := range []string{"1.31", "v1.36.3+k3s1", "36", ""} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		m, err := kubeletauthz.ParseMinor(text)
		if err != nil {
			return
		}
		if again, err := kubeletauthz.ParseMinor(m.String()); err != nil || again != m {
			t.Errorf("ParseMinor(%q) = %v, which reads back as %v, %v", text, m, again, err)
		}
	})
}
