package kubeletauthz_test

import (
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/lanyard-dev/lanyard/kubeletauthz"
	"pgregory.net/rapid"
)

// options draws any kubelet that can exist.
func options() *rapid.Generator[kubeletauthz.Options] {
	return rapid.Custom(func(t *rapid.T) kubeletauthz.Options {
		o := kubeletauthz.Options{
			Minor:         kubeletauthz.Minor(rapid.IntRange(31, 40).Draw(t, "minor")),
			Node:          rapid.SampledFrom([]string{"", "node-1"}).Draw(t, "node"),
			HardenedVerbs: rapid.Bool().Draw(t, "hardened"),
		}
		if o.Minor.HasGate() {
			o.Gate = rapid.SampledFrom([]kubeletauthz.Gate{kubeletauthz.GateDefault, kubeletauthz.GateOn}).Draw(t, "gate")
		}
		if o.Minor.HasGate() && o.Minor < 36 && rapid.Bool().Draw(t, "off") {
			o.Gate = kubeletauthz.GateOff
		}
		return o
	})
}

// anyPath draws paths made of the pieces that routers disagree on.
func anyPath() *rapid.Generator[string] {
	pieces := []string{
		"/", "//", ".", "..", "pods", "allocatedPods", "runningpods", "healthz", "metrics", "stats", "logs", "checkpoint", "exec", "run",
		"attach", "portForward", "configz", "flagz", "statusz", "spec", "%2f", "%2F", "%5c", "%2e", "%", ";", `\`, "é", "x", "\x00", " ",
	}
	return rapid.Custom(func(t *rapid.T) string {
		return rapid.SampledFrom([]string{"/", ""}).Draw(t, "lead") +
			strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 8).Draw(t, "pieces"), "")
	})
}

// slowClean says the same as Clean by way of the standard library.
func slowClean(p, raw string) bool {
	for _, s := range []string{strings.ToLower(p), strings.ToLower(raw)} {
		if strings.Contains(s, "%2f") || strings.Contains(s, "%5c") {
			return false
		}
	}
	if strings.ContainsAny(p, `\;`) || strings.ContainsFunc(p, func(r rune) bool { return r < ' ' || r == 0x7f }) {
		return false
	}
	return strings.HasPrefix(p, "/") && (path.Clean(p) == p || p != "//" && path.Clean(p)+"/" == p)
}

// slowMap is the mapping written as the KEP's tables are: prefixes, tried one after the other.
func slowMap(o kubeletauthz.Options, p string) []string {
	below := func(prefix string) bool { return p == prefix || strings.HasPrefix(p, prefix+"/") }
	fine := map[string]string{"/pods": "pods", "/runningpods": "pods", "/healthz": "healthz", "/configz": "configz"}
	alone := map[string]string{"/stats": "stats", "/metrics": "metrics", "/logs": "log", "/checkpoint": "checkpoint"}
	if o.Minor >= 33 {
		alone["/statusz"], alone["/flagz"] = "statusz", "configz"
	}
	if o.Minor >= 37 {
		fine["/allocatedPods"] = "pods"
	}
	for prefix, sub := range alone {
		if below(prefix) {
			return []string{sub}
		}
	}
	if o.Gate == kubeletauthz.GateOn || o.Gate == kubeletauthz.GateDefault && o.Minor >= 33 {
		for prefix, sub := range fine {
			if below(prefix) {
				return []string{sub, "proxy"}
			}
		}
	}
	return []string{"proxy"}
}

func TestMapLaws(t *testing.T) {
	t.Run("KAZ-10 Clean agrees with path.Clean", func(t *testing.T) {
		rapid.Check(t, func(t *rapid.T) {
			p, raw := anyPath().Draw(t, "path"), anyPath().Draw(t, "raw")
			if got, want := kubeletauthz.Clean(p, raw), slowClean(p, raw); got != want {
				t.Fatalf("Clean(%q, %q) = %v, want %v", p, raw, got, want)
			}
		})
	})
	t.Run("KAZ-1 KAZ-2 KAZ-10 Map agrees with the tables", func(t *testing.T) {
		rapid.Check(t, func(t *rapid.T) {
			o, p := options().Draw(t, "options"), anyPath().Draw(t, "path")
			want := []string{"proxy"}
			if slowClean(p, "") {
				want = slowMap(o, p)
			}
			got := mapper(t, o).Map("GET", p, "")
			if !slices.Equal(got.Subresources(), want) {
				t.Fatalf("Map(%q) with %+v = %v, want %v", p, o, got.Subresources(), want)
			}
		})
	})
	t.Run("KAZ-3 attributes differ in their subresource only", func(t *testing.T) {
		rapid.Check(t, func(t *rapid.T) {
			o := options().Draw(t, "options")
			method := rapid.SampledFrom([]string{"GET", "POST", "HEAD", "DELETE"}).Draw(t, "method")
			got := mapper(t, o).Map(method, anyPath().Draw(t, "path"), "")
			for a := range got.All() {
				if a.Verb != got.Verb() || a.Name != o.Node || a.Resource != "nodes" || a.APIVersion != "v1" {
					t.Fatalf("attribute = %+v", a)
				}
			}
		})
	})
	t.Run("KAZ-11 hardening never changes the subresources", func(t *testing.T) {
		rapid.Check(t, func(t *rapid.T) {
			o, p := options().Draw(t, "options"), anyPath().Draw(t, "path")
			o.HardenedVerbs = false
			plain := mapper(t, o).Map("GET", p, "")
			o.HardenedVerbs = true
			hard := mapper(t, o).Map("GET", p, "")
			if !slices.Equal(plain.Subresources(), hard.Subresources()) {
				t.Fatalf("Map(%q) = %v hardened, %v plain", p, hard.Subresources(), plain.Subresources())
			}
		})
	})
}
