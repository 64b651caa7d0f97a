package credprovider_test

import (
	"errors"
	"path"
	"strings"
	"testing"

	"github.com/lanyard-dev/lanyard/credprovider"
)

// matchCase is a row of upstream's table, or of what its rule gives when it is run.
type matchCase struct {
	pattern, image string
	want           bool
}

func matchCases() []matchCase {
	yes := [][2]string{
		{"*.kubernetes.io", "prefix.kubernetes.io"},
		{"prefix.*.io", "prefix.kubernetes.io"},
		{"prefix.kubernetes.*", "prefix.kubernetes.io"},
		{"*-good.kubernetes.io", "prefix-good.kubernetes.io"},
		{"*.kubernetes.io/blah", "prefix.kubernetes.io/blah"},
		{"prefix.*.io/foo", "prefix.kubernetes.io/foo/bar"},
		{"*.kubernetes.io:1111/blah", "prefix.kubernetes.io:1111/blah"},
		{"prefix.*.io:1111/foo", "prefix.kubernetes.io:1111/foo/bar"},
		{"bar.example.com/pong", "bar.example.com/pongz"},
		{"*kubernetes.io", "kubernetes.io"},
		{"*.*.*.kubernetes.io", "a.b.c.kubernetes.io"},
		{"gcr.io", "gcr.io"},
		{"gcr.io/", "gcr.io/proj"},
		{"gcr.io/proj", "gcr.io/project2/img"},
		{"*.io", "k8s.io/x"},
		{"k8s.*", "k8s.io/x"},
		{"app*.k8s.io", "app.k8s.io/x"},
		{"*.*", "docker.io/library/ubuntu"},
		{"docker.io", "docker.io/library/ubuntu"},
		{"reg.io:8080", "reg.io:8080/x"},
		{"*.reg.io:8080/path", "a.reg.io:8080/pathology"},
		{"localhost:5000", "localhost:5000/x"},
		{"127.*.*.1:5000", "127.0.0.1:5000/x"},
		{"[::1]:5000", "[::1]:5000/x"},
		{"reg.io/a%2Fb", "reg.io/a/b/c"},
		{"user@reg.io", "reg.io/x"},
		{"reg.io?x=1", "reg.io/x"},
		{"", "/x"},
		{"*.dkr.ecr.*.amazonaws.com", "1.dkr.ecr.eu-west-1.amazonaws.com/r"},
		{"*.azurecr.io", "foo.azurecr.io/x"},
	}
	no := [][2]string{
		{"*.kubernetes.io", "kubernetes.io"},
		{"*.*.kubernetes.io", "prefix.kubernetes.io"},
		{"*kubernetes.io", "a.kubernetes.io"},
		{"kubernetes.io", "kubernetes.com"},
		{"k*.io", "quay.io"},
		{"*.kubernetes.io:1234/blah", "prefix.kubernetes.io:1111/blah"},
		{"prefix.*.io/foo", "prefix.kubernetes.io:1111/foo/bar"},
		{"bar.example.com/pong", "bar.example.com/ping"},
		{"prefix.docker.c*", "prefix.docker.io"},
		{"gcr.io/", "gcr.io"},
		{"gcr.io/proj/", "gcr.io/project2/img"},
		{"gcr.io/proj/", "gcr.io/proj"},
		{"GCR.IO", "gcr.io/x"},
		{"gcr.io", "GCR.io/x"},
		{"*.io", "a.k8s.io/x"},
		{"app*.k8s.io", "myapp.k8s.io/x"},
		{"*", "docker.io/library/ubuntu"},
		{"docker.io", "ubuntu"},
		{"docker.io", "index.docker.io/library/ubuntu"},
		{"reg.io", "reg.io:8080/x"},
		{"reg.io:443", "reg.io/x"},
		{"https://reg.io", "reg.io/x"},
		{"?.k8s.io", "a.k8s.io/x"},
		{"harbor.example.com/*", "harbor.example.com/library/img"},
		{"*.registry.io/*", "my.registry.io/app"},
		{"reg.io/a:tag", "reg.io/a"},
		{"reg.io", "reg.io./x"},
		{"", "x"},
		{"reg.io", "reg.io/%zz"},
		{"[::1]", "[::1]/x"},
	}
	var cases []matchCase
	for _, c := range yes {
		cases = append(cases, matchCase{c[0], c[1], true})
	}
	for _, c := range no {
		cases = append(cases, matchCase{c[0], c[1], false})
	}
	return cases
}

func TestMatch(t *testing.T) {
	for _, c := range matchCases() {
		t.Run("CRP-4 "+c.pattern+" on "+c.image, func(t *testing.T) {
			p, err := credprovider.Compile(c.pattern)
			if err != nil {
				t.Fatalf("Compile(%q) = %v", c.pattern, err)
			}
			if got := p.Match(c.image); got != c.want {
				t.Errorf("Compile(%q).Match(%q) = %v, want %v", c.pattern, c.image, got, c.want)
			}
		})
	}
}

func TestCompileErrors(t *testing.T) {
	for _, text := range []string{"reg.io:*", "[ab].k8s.io", "%invalid%", "a b.io", "reg.io:80a"} {
		t.Run("CRP-4 no pattern: "+text, func(t *testing.T) {
			_, err := credprovider.Compile(text)
			var pattern *credprovider.PatternError
			if !errors.As(err, &pattern) || pattern.Pattern != text {
				t.Errorf("Compile(%q) = %v, want a *PatternError with the pattern", text, err)
			}
		})
	}
}

func TestPatternParts(t *testing.T) {
	p, err := credprovider.Compile("*.reg.io:8080/team/")
	if err != nil {
		t.Fatal(err)
	}
	if p.String() != "*.reg.io:8080/team/" || p.Host() != "*.reg.io" || p.Port() != "8080" || p.Path() != "/team/" {
		t.Errorf("parts = %q %q %q %q", p.String(), p.Host(), p.Port(), p.Path())
	}
}

func TestMatcherFindsEachListOnce(t *testing.T) {
	t.Run("CRP-4 lists come ascending and once", func(t *testing.T) {
		m, err := credprovider.NewMatcher([][]string{
			{"*.io", "quay.io"}, {"gcr.io"}, {"quay.io/team", "q*.io", "quay.*"}, {"quay.io:443"},
		})
		if err != nil {
			t.Fatal(err)
		}
		for image, want := range map[string][]int{
			"quay.io/team/x": {0, 2}, "quay.io/other": {0, 2}, "gcr.io/x": {0, 1}, "quay.io:443/x": {3}, "a.b.c/x": nil, "[::1": nil,
		} {
			if got := m.AppendMatches(nil, image); !equal(got, want) {
				t.Errorf("AppendMatches(nil, %q) = %v, want %v", image, got, want)
			}
		}
	})
	t.Run("what dst holds stays", func(t *testing.T) {
		m, _ := credprovider.NewMatcher([][]string{{"gcr.io"}})
		if got := m.AppendMatches([]int{7}, "gcr.io/x"); !equal(got, []int{7, 0}) {
			t.Errorf("AppendMatches([7]) = %v, want [7 0]", got)
		}
	})
	t.Run("a pattern that is none", func(t *testing.T) {
		if _, err := credprovider.NewMatcher([][]string{{"a.io"}, {"a.io:*"}}); err == nil {
			t.Error("NewMatcher = nil error, want a *PatternError")
		}
	})
}

func equal(a, b []int) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}

func TestMatchDoesNotAllocate(t *testing.T) {
	m, err := credprovider.NewMatcher([][]string{{"*.dkr.ecr.*.amazonaws.com"}, {"registry.example.io:5000/team"}, {"*.io", "*.*.io"}})
	if err != nil {
		t.Fatal(err)
	}
	dst := make([]int, 0, 8)
	for _, image := range []string{"1.dkr.ecr.eu-west-1.amazonaws.com/r", "registry.example.io:5000/team/app", "docker.io/library/ubuntu"} {
		if n := testing.AllocsPerRun(100, func() { dst = m.AppendMatches(dst[:0], image) }); n != 0 {
			t.Errorf("AppendMatches(%q) allocates %v times, want 0", image, n)
		}
	}
}

// obviousMatch is the rule without any shortcut, for hosts, ports and paths that are plain text.
func obviousMatch(pattern, image string) bool {
	split := func(s string) (labels []string, port, rest string) {
		authority, rest, found := strings.Cut(s, "/")
		if found {
			rest = "/" + rest
		}
		host, port, _ := strings.Cut(authority, ":")
		return strings.Split(host, "."), port, rest
	}
	wantLabels, wantPort, prefix := split(pattern)
	labels, port, rest := split(image)
	if port != wantPort || len(labels) != len(wantLabels) || !strings.HasPrefix(rest, prefix) {
		return false
	}
	for i := range labels {
		if ok, err := path.Match(wantLabels[i], labels[i]); !ok || err != nil {
			return false
		}
	}
	return true
}
