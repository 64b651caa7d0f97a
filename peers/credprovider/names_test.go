package credprovider_test

import (
	"strings"
	"testing"

	_ "crypto/sha512" // the digests that a reference may have
	"github.com/distribution/reference"

	"k8s.io/apimachinery/pkg/api/validate/content"
	"pgregory.net/rapid"

	"github.com/lanyard-dev/lanyard/credprovider"
)

// theirRepository is what a kubelet makes of a reference.
func theirRepository(text string) (name, tag, digest string, err error) {
	named, err := reference.ParseNormalizedNamed(text)
	if err != nil {
		return "", "", "", err
	}
	if tagged, ok := named.(reference.Tagged); ok {
		tag = tagged.Tag()
	}
	if digested, ok := named.(reference.Digested); ok {
		digest = digested.Digest().String()
	}
	return named.Name(), tag, digest, nil
}

func checkReference(t interface{ Fatalf(string, ...any) }, text string) {
	name, tag, digest, theirErr := theirRepository(text)
	ours, err := credprovider.ParseImage(text)
	if (err == nil) != (theirErr == nil) || ours != (credprovider.Image{Repository: name, Tag: tag, Digest: digest}) {
		t.Fatalf("ParseImage(%q) = %+v, %v; a kubelet says %q %q %q, %v", text, ours, err, name, tag, digest, theirErr)
	}
}

func TestReferences(t *testing.T) {
	sha := strings.Repeat("0123456789abcdef", 8)
	for _, text := range []string{
		"ubuntu", "ubuntu:22.04", "foo/bar", "Foo/bar", "localhost/x", "LOCALHOST/x", "localhost:5000/x", "index.docker.io/x", "docker.io/x", "docker.io/a/b",
		"a.b/c:d@sha256:" + sha[:64], "a@sha384:" + sha[:96], "a@sha512:" + sha, "a@sha256:" + sha[:32], "a@md5:" + sha[:32], "a@sha256:" + strings.ToUpper(sha[:64]),
		"[::1]:5000/x", "[::1]/x", "[::g]/x", "[]/x", "a..b/c", "a.-b/c", "a_b.c/d", "a:b/c", "a:1/c", ":1/c", "a/b/", "a//b", "/a", "", ":", "@", "a:", "a@", "a:b:c",
		sha[:64], sha[:64] + ":x", "a.io/" + sha[:64], "é/x", "a.io/é", "a--b", "a---b/c", "a__b", "a___b", "a._b", "a.io/a-", "x.io/" + strings.Repeat("a", 255), "x.io/" + strings.Repeat("a", 256),
		"docker.io/" + strings.Repeat("a", 250), "a.io/b:" + strings.Repeat("t", 128), "a.io/b:" + strings.Repeat("t", 129), "a.io/b:.x", "a.io/b:_x", "docker.io", "index.docker.io", "DOCKER.io/x",
	} {
		t.Run("CRP-4 "+text, func(t *testing.T) { checkReference(t, text) })
	}
	t.Run("CRP-4 any text", rapid.MakeCheck(func(t *rapid.T) {
		checkReference(t, rapid.StringMatching(`([aA1.\-_:]{0,4}/)?[a1A._\-]{0,4}(/[a1._\-]{0,3})?(:[aA._\-1]{0,3})?`).Draw(t, "text"))
	}))
}

func FuzzReferences(f *testing.F) {
	f.Add("a.b:1/c_d:e@sha256:" + strings.Repeat("0", 64))
	f.Fuzz(func(t *testing.T, text string) { checkReference(t, text) })
}

func TestAnnotationKeys(t *testing.T) {
	yes := true
	check := func(t interface{ Fatalf(string, ...any) }, key string) {
		theirs := content.IsLabelKey(strings.ToLower(key))
		p := credprovider.Provider{
			Name: "p", MatchImages: []string{"a.io"}, APIVersion: credprovider.V1, DefaultCacheDuration: credprovider.NewDuration(0),
			TokenAttributes: &credprovider.TokenAttributes{ServiceAccountTokenAudience: "a", CacheType: credprovider.CacheByToken, RequireServiceAccount: &yes, OptionalServiceAccountAnnotationKeys: []string{key}},
		}
		err := credprovider.Validate(credprovider.Config{Providers: []credprovider.Provider{p}}, credprovider.Gates{KubeletServiceAccountTokenForCredentialProviders: true})
		var ours credprovider.Faults
		if err != nil {
			ours = err.(credprovider.Faults)
		}
		if len(ours) != len(theirs) {
			t.Fatalf("key %q: %v, upstream %v", key, ours, theirs)
		}
		for i := range ours {
			if rule, _, _ := strings.Cut(theirs[i], " (e.g."); !strings.HasPrefix(ours[i].Detail, rule) {
				t.Fatalf("key %q: %q, upstream %q", key, ours[i].Detail, theirs[i])
			}
		}
	}
	for _, key := range []string{"a", "", "/", "a/", "/a", "a/b/c", "a.b/c-d", "a..b/c", "-a/b", "a/b-", "A.B/C", strings.Repeat("a", 64), strings.Repeat("a.", 127) + "a/b", strings.Repeat("a", 64) + ".io/x"} {
		t.Run("CRP-26 "+key, func(t *testing.T) { check(t, key) })
	}
	t.Run("CRP-26 any key", rapid.MakeCheck(func(t *rapid.T) {
		check(t, rapid.StringMatching(`[aA1.\-_/]{0,8}`).Draw(t, "key"))
	}))
}
