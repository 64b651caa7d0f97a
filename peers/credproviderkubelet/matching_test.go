package credproviderkubelet_test

import (
	"slices"
	"strings"
	"testing"

	upstream "k8s.io/kubernetes/pkg/credentialprovider"
	"pgregory.net/rapid"

	"github.com/lanyard-dev/lanyard/credprovider"
)

// cases are a pattern and an image a line: the rows of upstream's table and of what its users write.
const cases = `
*.kubernetes.io prefix.kubernetes.io
prefix.*.io prefix.kubernetes.io
prefix.kubernetes.* prefix.kubernetes.io
*-good.kubernetes.io prefix-good.kubernetes.io
*.kubernetes.io/blah prefix.kubernetes.io/blah
prefix.*.io/foo prefix.kubernetes.io/foo/bar
*.kubernetes.io:1111/blah prefix.kubernetes.io:1111/blah
prefix.*.io:1111/foo prefix.kubernetes.io:1111/foo/bar
prefix.*.io/foo prefix.kubernetes.io:1111/foo/bar
bar.example.com/pong bar.example.com/ping
*.kubernetes.io kubernetes.io
*.*.kubernetes.io prefix.kubernetes.io
*kubernetes.io a.kubernetes.io
*kubernetes.io kubernetes.io
*.*.*.kubernetes.io a.b.c.kubernetes.io
kubernetes.io kubernetes.com
k*.io quay.io
*.kubernetes.io:1234/blah prefix.kubernetes.io:1111/blah
bar.example.com/pong bar.example.com/pongz
prefix.docker.c* prefix.docker.io
gcr.io gcr.io
gcr.io gcr.io/
gcr.io/ gcr.io/proj
gcr.io/proj gcr.io/project2/img
gcr.io/proj/ gcr.io/project2/img
GCR.IO gcr.io/x
gcr.io GCR.io/x
* docker.io/library/ubuntu
*.* docker.io/library/ubuntu
docker.io ubuntu
docker.io index.docker.io/library/ubuntu
reg.io reg.io:8080/x
reg.io:443 reg.io/x
reg.io:8080 reg.io:8080/x
reg.io:* reg.io:8080/x
reg.io: reg.io/x
reg.io reg.io:/x
*.reg.io:8080/path a.reg.io:8080/pathology
localhost:5000 localhost:5000/x
127.*.*.1:5000 127.0.0.1:5000/x
[::1]:5000 [::1]:5000/x
[::1] [::1]/x
[::1]: ::1/x
[fe80::1%25eth0]:1 [fe80::1%25eth0]:1/x
reg.io/a%2Fb reg.io/a/b/c
reg.io/a reg.io/%61
user@reg.io reg.io/x
reg.io?x=1 reg.io/x
reg.io#x reg.io/x
https://reg.io reg.io/x
?.k8s.io a.k8s.io/x
[ab].k8s.io a.k8s.io/x
harbor.example.com/* harbor.example.com/library/img
*.registry.io/* my.registry.io/app
reg.io/a:tag reg.io/a
reg.io reg.io./x
reg..io reg..io/x
*.dkr.ecr.*.amazonaws.com 1.dkr.ecr.eu-west-1.amazonaws.com/r
*.azurecr.io foo.azurecr.io/x
%invalid% reg.io
reg.io %invalid%
é.io é.io/x
%C3%A9.io é.io/x
*.io é.io/x
a\b.io a\b.io/x
reg.io/a\b reg.io/a\b
reg.io:99999999999 reg.io:99999999999/x
`

func checkMatch(t interface{ Fatalf(string, ...any) }, pattern, image string) {
	theirs, _ := upstream.URLsMatchStr(pattern, image)
	p, err := credprovider.Compile(pattern)
	ours := err == nil && p.Match(image)
	if ours != theirs {
		t.Fatalf("pattern %q, image %q: %v (%v), a kubelet says %v", pattern, image, ours, err, theirs)
	}
	if _, theirErr := upstream.ParseSchemelessURL(pattern); theirErr != nil && err == nil {
		t.Fatalf("Compile(%q) = nil error, a kubelet says %v", pattern, theirErr)
	}
}

func TestMatching(t *testing.T) {
	for row := range strings.SplitSeq(strings.TrimSpace(cases), "\n") {
		t.Run("CRP-4 "+row, func(t *testing.T) {
			pattern, image, _ := strings.Cut(row, " ")
			checkMatch(t, pattern, image)
		})
	}
	t.Run("CRP-4 no text on either side", func(t *testing.T) {
		for _, pair := range [][2]string{{"", "/x"}, {"", "x"}, {"", ""}, {"reg.io", ""}} {
			checkMatch(t, pair[0], pair[1])
		}
	})
	text := rapid.StringMatching(`[a*?\[\]%@#:./\\2Fé]{0,6}(\.[a*]{1,2}){0,2}(:[1*]{0,2})?(/[a%2F*:]{0,3}){0,2}`)
	t.Run("CRP-4 any two texts", rapid.MakeCheck(func(t *rapid.T) {
		checkMatch(t, text.Draw(t, "pattern"), text.Draw(t, "image"))
	}))
	plain := rapid.StringMatching(`[ab*]{1,2}(\.[ab*]{1,2}){0,2}(:[1]{1,2})?(/[ab]{0,2}){0,2}`)
	t.Run("CRP-4 any two plain texts", rapid.MakeCheck(func(t *rapid.T) {
		checkMatch(t, plain.Draw(t, "pattern"), strings.ReplaceAll(plain.Draw(t, "image"), "*", "c"))
	}))
}

func FuzzMatching(f *testing.F) {
	for row := range strings.SplitSeq(strings.TrimSpace(cases), "\n") {
		pattern, image, _ := strings.Cut(row, " ")
		f.Add(pattern, image)
	}
	f.Fuzz(func(t *testing.T, pattern, image string) { checkMatch(t, pattern, image) })
}

func TestKeyrings(t *testing.T) {
	key := rapid.StringMatching(`(https?://)?[ab*]{1,2}(\.[ab*]{1,2}){0,2}(:1)?(/v[12])?(/[ab]{0,2}){0,2}`)
	check := func(t *rapid.T, image string, keys [][]string) {
		theirs := &upstream.BasicDockerKeyring{}
		var answers []*credprovider.Keyring
		for i, list := range keys {
			config, auth := upstream.DockerConfig{}, map[string]credprovider.AuthConfig{}
			for _, k := range list {
				user := string(rune('A'+i)) + k
				config[k], auth[k] = upstream.DockerConfigEntry{Username: user}, credprovider.AuthConfig{Username: user}
			}
			theirs.Add(nil, config)
			answers = append(answers, credprovider.NewKeyring("", nil, auth))
		}
		var want, got []string
		found, _ := theirs.Lookup(image)
		for _, c := range found {
			want = append(want, c.Username)
		}
		for _, c := range credprovider.Credentials(image, answers...) {
			got = append(got, c.Username)
		}
		if !slices.Equal(got, want) {
			t.Fatalf("Credentials(%q) of %q = %q, a kubelet says %q", image, keys, got, want)
		}
	}
	t.Run("CRP-4 CRP-17 any answers give the same credentials in the same order", rapid.MakeCheck(func(t *rapid.T) {
		var keys [][]string
		for range rapid.IntRange(0, 3).Draw(t, "answers") {
			// One key an answer where two could be one pattern: then a kubelet's own order is a map's.
			keys = append(keys, rapid.SliceOfNDistinct(key, 0, 4, patternOf).Draw(t, "keys"))
		}
		check(t, strings.ReplaceAll(rapid.StringMatching(`[ab]{1,2}(\.[ab]{1,2}){0,2}(:1)?/[ab]{1,2}`).Draw(t, "image"), "*", ""), keys)
	}))
	t.Run("CRP-4 the default registry", rapid.MakeCheck(func(t *rapid.T) {
		keys := rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"https://index.docker.io/v1/", "docker.io", "other.io", "*.io"}), 0, 3, rapid.ID[string]).Draw(t, "keys")
		check(t, rapid.SampledFrom([]string{"docker.io/library/x", "index.docker.io/x", "x", "x/y", "reg.io/x", "reg:1/x", "", "/x", "a%zz"}).Draw(t, "image"), [][]string{keys})
	}))
}

// patternOf is the rule for keys, as text.
func patternOf(key string) string {
	key = strings.TrimPrefix(strings.TrimPrefix(key, "http://"), "https://")
	host, path, _ := strings.Cut(key, "/")
	path = strings.TrimPrefix(strings.TrimPrefix("/"+path, "/v1/"), "/v2/")
	return host + "/" + strings.TrimPrefix(path, "/")
}
