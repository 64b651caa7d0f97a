package kubeletauthz_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/lanyard-dev/lanyard/kubeletauthz"
)

func mapper(t interface{ Fatalf(string, ...any) }, o kubeletauthz.Options) kubeletauthz.Mapper {
	m, err := kubeletauthz.New(o)
	if err != nil {
		t.Fatalf("New(%+v) error = %v", o, err)
	}
	return m
}

// pathCases give the subresources of a path, in order, as three generations of kubelets ask them: up to 1.32 with the
// gate off, from 1.33 with the gate off, and with the gate on. The fuzz targets are seeded from it.
var pathCases = []struct {
	path         string
	old, off, on string
}{
	{"/stats", "stats", "stats", "stats"},
	{"/stats/", "stats", "stats", "stats"},
	{"/stats/summary", "stats", "stats", "stats"},
	{"/metrics", "metrics", "metrics", "metrics"},
	{"/metrics/cadvisor", "metrics", "metrics", "metrics"},
	{"/metrics/resource", "metrics", "metrics", "metrics"},
	{"/metrics/probes", "metrics", "metrics", "metrics"},
	{"/metrics/slis", "metrics", "metrics", "metrics"},
	{"/logs", "log", "log", "log"},
	{"/logs/", "log", "log", "log"},
	{"/logs/a/b.log", "log", "log", "log"},
	{"/checkpoint", "checkpoint", "checkpoint", "checkpoint"},
	{"/checkpoint/ns/pod/ctr", "checkpoint", "checkpoint", "checkpoint"},
	{"/statusz", "proxy", "statusz", "statusz"},
	{"/statusz/x", "proxy", "statusz", "statusz"},
	{"/flagz", "proxy", "configz", "configz"},
	{"/flagz/x", "proxy", "configz", "configz"},
	{"/configz", "proxy", "proxy", "configz proxy"},
	{"/configz/x", "proxy", "proxy", "configz proxy"},
	{"/healthz", "proxy", "proxy", "healthz proxy"},
	{"/healthz/log", "proxy", "proxy", "healthz proxy"},
	{"/healthz/ping", "proxy", "proxy", "healthz proxy"},
	{"/healthz/syncloop", "proxy", "proxy", "healthz proxy"},
	{"/pods", "proxy", "proxy", "pods proxy"},
	{"/pods/", "proxy", "proxy", "pods proxy"},
	{"/pods/x", "proxy", "proxy", "pods proxy"},
	{"/runningpods", "proxy", "proxy", "pods proxy"},
	{"/runningpods/", "proxy", "proxy", "pods proxy"},
	{"/spec", "proxy", "proxy", "proxy"},
	{"/spec/x", "proxy", "proxy", "proxy"},
	{"/exec/ns/pod/ctr", "proxy", "proxy", "proxy"},
	{"/attach/ns/pod/ctr", "proxy", "proxy", "proxy"},
	{"/run/ns/pod/ctr", "proxy", "proxy", "proxy"},
	{"/portForward/ns/pod", "proxy", "proxy", "proxy"},
	{"/containerLogs/ns/pod/ctr", "proxy", "proxy", "proxy"},
	{"/debug/pprof/heap", "proxy", "proxy", "proxy"},
	{"/debug/flags/v", "proxy", "proxy", "proxy"},
	{"/", "proxy", "proxy", "proxy"},
	{"", "proxy", "proxy", "proxy"},
	{"pods", "proxy", "proxy", "proxy"},
	{"*", "proxy", "proxy", "proxy"},
	{"/podsx", "proxy", "proxy", "proxy"},
	{"/healthzfoo", "proxy", "proxy", "proxy"},
	{"/metricsfoo", "proxy", "proxy", "proxy"},
	{"/Pods", "proxy", "proxy", "proxy"},
	{"/runningPods/", "proxy", "proxy", "proxy"},
}

func TestPathTable(t *testing.T) {
	for _, k := range []struct {
		name    string
		options kubeletauthz.Options
		column  int
	}{
		{"1.31", kubeletauthz.Options{Minor: 31}, 0},
		{"1.32", kubeletauthz.Options{Minor: 32}, 0},
		{"1.32 gate on", kubeletauthz.Options{Minor: 32, Gate: kubeletauthz.GateOn}, 2},
		{"1.33 gate off", kubeletauthz.Options{Minor: 33, Gate: kubeletauthz.GateOff}, 1},
		{"1.35 gate off", kubeletauthz.Options{Minor: 35, Gate: kubeletauthz.GateOff}, 1},
		{"1.33", kubeletauthz.Options{Minor: 33}, 2},
		{"1.34", kubeletauthz.Options{Minor: 34}, 2},
		{"1.35", kubeletauthz.Options{Minor: 35}, 2},
		{"1.36", kubeletauthz.Options{Minor: 36}, 2},
		{"1.37", kubeletauthz.Options{Minor: 37}, 2},
		{"newest by default", kubeletauthz.Options{}, 2},
	} {
		m := mapper(t, k.options)
		for _, c := range pathCases {
			t.Run("KAZ-1 KAZ-2 "+k.name+" "+c.path, func(t *testing.T) {
				got := strings.Join(m.Map("GET", c.path, "").Subresources(), " ")
				want := []string{c.old, c.off, c.on}[k.column]
				if k.options.Minor == 32 && (strings.HasPrefix(c.path, "/statusz") || strings.HasPrefix(c.path, "/flagz")) {
					want = c.old // 1.32 does not know them yet, whatever its gate
				}
				if got != want {
					t.Errorf("Map(GET, %q) = %q, want %q", c.path, got, want)
				}
			})
		}
	}
}

// TestAllocatedPods is the one path whose mapping changed after 1.33, so the columns of the table do not have it.
func TestAllocatedPods(t *testing.T) {
	for _, c := range []struct {
		path string
		want string // from 1.37 on; proxy before
	}{
		{"/allocatedPods", "pods proxy"},
		{"/allocatedPods/", "pods proxy"},
		{"/allocatedPods/x", "pods proxy"},
		{"/allocatedpods", "proxy"},
		{"/allocatedPodsx", "proxy"},
		{"/allocatedPods/..", "proxy"},
		{"/allocatedPods/%2F", "proxy"},
	} {
		for minor := kubeletauthz.MinorOldest; minor <= kubeletauthz.MinorNewest; minor++ {
			want := "proxy"
			if minor >= 37 {
				want = c.want
			}
			t.Run("KAZ-2 "+minor.String()+" "+c.path, func(t *testing.T) {
				got := mapper(t, kubeletauthz.Options{Minor: minor}).Map("GET", c.path, "")
				if subs := strings.Join(got.Subresources(), " "); subs != want || got.Verb() != "get" {
					t.Errorf("Map(GET, %q) = %s %q, want get %q", c.path, got.Verb(), subs, want)
				}
			})
		}
	}
	t.Run("KAZ-2 the gate that 1.32 to 1.36 have does not bring it", func(t *testing.T) {
		for minor := kubeletauthz.Minor(32); minor <= 36; minor++ {
			m := mapper(t, kubeletauthz.Options{Minor: minor, Gate: kubeletauthz.GateOn})
			if subs := m.Map("GET", "/allocatedPods", "").Subresources(); !slices.Equal(subs, []string{"proxy"}) {
				t.Errorf("%s: Map(GET, /allocatedPods) = %q, want proxy", minor, subs)
			}
		}
	})
}

func TestAttributesOfTheNode(t *testing.T) {
	m := mapper(t, kubeletauthz.Options{Node: "node-1"})
	for method, verb := range map[string]string{
		"POST": "create", "GET": "get", "PUT": "update", "PATCH": "patch", "DELETE": "delete",
		"HEAD": "", "OPTIONS": "", "TRACE": "", "CONNECT": "", "get": "", "LIST": "", "": "",
	} {
		t.Run("KAZ-3 method "+method, func(t *testing.T) {
			want := []kubeletauthz.Attribute{
				{Verb: verb, APIVersion: "v1", Resource: "nodes", Subresource: "pods", Name: "node-1"},
				{Verb: verb, APIVersion: "v1", Resource: "nodes", Subresource: "proxy", Name: "node-1"},
			}
			got := m.Map(method, "/pods/", "")
			if all := slices.Collect(got.All()); !slices.Equal(all, want) {
				t.Errorf("Map(%q, /pods/) = %+v, want %+v", method, all, want)
			}
			if got.Verb() != verb || got.Len() != 2 || got.At(1) != want[1] {
				t.Errorf("Verb, Len, At(1) = %q, %d, %+v", got.Verb(), got.Len(), got.At(1))
			}
		})
	}
	t.Run("KAZ-4 no attributes, no subresource", func(t *testing.T) {
		var none kubeletauthz.Attributes
		if none.Len() != 0 || none.Subresources() != nil || none.At(0).Subresource != "" || none.At(-1).Subresource != "" {
			t.Errorf("zero Attributes = %+v, want none", none)
		}
	})
}

// trickyCases do not say which handler will run; each is proxy and nothing finer.
var trickyCases = []struct{ path, raw string }{
	{"//healthz", ""},
	{"//pods", ""},
	{"/pods//", ""},
	{"/pods//x", ""},
	{"/./pods", ""},
	{"/pods/.", ""},
	{"/pods/..", ""},
	{"/pods/../", ""},
	{"/healthz/../exec", ""},
	{"/metrics/../exec/ns/pod/ctr", "/metrics/%2e%2e/exec/ns/pod/ctr"},
	{"/pods/../exec", "/pods/..%2Fexec"},
	{"/pods/exec", "/pods%2fexec"},
	{"/logs/a%2Fb", ""},
	{"/logs/..%2f..", "/logs/..%252f.."},
	{`/logs/..\..\x`, ""},
	{"/logs/a%5cb", ""},
	{"/pods;/../exec", ""},
	{"/pods/;a=b", ""},
	{"/pods;x", ""},
	{"/metrics/..;/exec", ""},
	{"/pods/\x00", ""},
	{"/pods/\n", ""},
	{"/pods/\x7f", ""},
	{"/ｐods", ""},
	{"/pods\u2215exec", ""},
}

func TestTrickyPaths(t *testing.T) {
	m := mapper(t, kubeletauthz.Options{})
	hard := mapper(t, kubeletauthz.Options{HardenedVerbs: true})
	for _, c := range trickyCases {
		t.Run("KAZ-10 "+c.path+" "+c.raw, func(t *testing.T) {
			got := m.Map("GET", c.path, c.raw)
			if got.Len() != 1 || got.At(0).Subresource != "proxy" {
				t.Errorf("Map(%q, %q) = %v, want [proxy]", c.path, c.raw, got.Subresources())
			}
			if v := hard.Map("GET", c.path, c.raw).Verb(); v != "create" && !kubeletauthz.Clean(c.path, c.raw) {
				t.Errorf("hardened verb = %q, want create", v)
			}
		})
	}
	for _, path := range []string{"/logs/é/日本.log", "/pods/%41", "/logs/a%2", "/logs/100%"} {
		t.Run("KAZ-10 clean "+path, func(t *testing.T) {
			if !kubeletauthz.Clean(path, "") || m.Map("GET", path, "").At(0).Subresource == "proxy" {
				t.Errorf("Map(%q) = %v, want the finer one", path, m.Map("GET", path, "").Subresources())
			}
		})
	}
}

func TestHardenedVerbs(t *testing.T) {
	upstream, hard := mapper(t, kubeletauthz.Options{}), mapper(t, kubeletauthz.Options{HardenedVerbs: true})
	for _, path := range []string{"/exec/a/b/c", "/attach/a/b/c", "/run/a/b/c", "/portForward/a/b", "/exec"} {
		for _, method := range []string{"GET", "POST", "PUT", "HEAD", "x"} {
			t.Run("KAZ-11 "+method+" "+path, func(t *testing.T) {
				if got := hard.Map(method, path, ""); got.Verb() != "create" || got.Len() != 1 || got.At(0).Subresource != "proxy" {
					t.Errorf("hardened Map(%q, %q) = %+v, want create nodes/proxy", method, path, got)
				}
			})
		}
		t.Run("KAZ-11 off by default "+path, func(t *testing.T) {
			if got := upstream.Map("GET", path, "").Verb(); got != "get" {
				t.Errorf("Map(GET, %q) verb = %q, want get", path, got)
			}
		})
	}
	for _, path := range []string{"/pods", "/metrics", "/containerLogs/a/b/c", "/executor", "/Exec/a/b/c", "/logs/exec"} {
		t.Run("KAZ-11 leaves alone "+path, func(t *testing.T) {
			if got := hard.Map("GET", path, "").Verb(); got != "get" {
				t.Errorf("hardened Map(GET, %q) verb = %q, want get", path, got)
			}
		})
	}
}

func TestGateRules(t *testing.T) {
	for _, c := range []struct {
		name    string
		options kubeletauthz.Options
		want    error
	}{
		{"no gate before 1.32", kubeletauthz.Options{Minor: 31, Gate: kubeletauthz.GateOn}, kubeletauthz.ErrNoGate},
		{"no gate to switch off before 1.32", kubeletauthz.Options{Minor: 31, Gate: kubeletauthz.GateOff}, kubeletauthz.ErrNoGate},
		{"off in 1.35", kubeletauthz.Options{Minor: 35, Gate: kubeletauthz.GateOff}, nil},
		{"locked in 1.36", kubeletauthz.Options{Minor: 36, Gate: kubeletauthz.GateOff}, kubeletauthz.ErrGateLocked},
		{"locked by default", kubeletauthz.Options{Gate: kubeletauthz.GateOff}, kubeletauthz.ErrGateLocked},
		{"locked on is on", kubeletauthz.Options{Minor: 37, Gate: kubeletauthz.GateOn}, nil},
		{"too old", kubeletauthz.Options{Minor: 30}, kubeletauthz.ErrMinor},
		{"negative", kubeletauthz.Options{Minor: -1}, kubeletauthz.ErrMinor},
	} {
		t.Run("KAZ-2 "+c.name, func(t *testing.T) {
			if _, err := kubeletauthz.New(c.options); !errors.Is(err, c.want) {
				t.Errorf("New(%+v) error = %v, want %v", c.options, err, c.want)
			}
		})
	}
}

// TestNewerMinor is what keeps a release of Kubernetes from breaking who vendors this package.
func TestNewerMinor(t *testing.T) {
	const newest = kubeletauthz.MinorNewest
	for _, newer := range []kubeletauthz.Minor{newest + 1, 99, 1 << 30} {
		t.Run("KAZ-17 "+newer.String()+" is treated as the newest known, and says so", func(t *testing.T) {
			if got, known := newer.Known(); got != newest || known {
				t.Errorf("Known() = %v, %v, want %v, false", got, known, newest)
			}
			for _, gate := range []kubeletauthz.Gate{kubeletauthz.GateDefault, kubeletauthz.GateOn} {
				want := mapper(t, kubeletauthz.Options{Node: "n", Minor: newest, Gate: gate})
				if got := mapper(t, kubeletauthz.Options{Node: "n", Minor: newer, Gate: gate}); got != want {
					t.Errorf("New maps differently from %s with gate %d", newest, gate)
				}
			}
			_, err := kubeletauthz.New(kubeletauthz.Options{Minor: newer, Gate: kubeletauthz.GateOff})
			if !errors.Is(err, kubeletauthz.ErrGateLocked) || !strings.Contains(err.Error(), newer.String()) {
				t.Errorf("New with the gate off = %v, want ErrGateLocked for %s", err, newer)
			}
		})
	}
	t.Run("KAZ-17 every version from the oldest to the newest is itself", func(t *testing.T) {
		for minor := kubeletauthz.MinorOldest; minor <= newest; minor++ {
			if got, known := minor.Known(); got != minor || !known {
				t.Errorf("%s.Known() = %v, %v, want itself", minor, got, known)
			}
		}
	})
	t.Run("KAZ-17 an older one is not known, and an error", func(t *testing.T) {
		for _, minor := range []kubeletauthz.Minor{kubeletauthz.MinorOldest - 1, 0, -1} {
			if got, known := minor.Known(); got != 0 || known {
				t.Errorf("%s.Known() = %v, %v, want 0, false", minor, got, known)
			}
		}
	})
}

func TestParseMinor(t *testing.T) {
	for text, want := range map[string]kubeletauthz.Minor{"1.31": 31, "v1.36": 36, "v1.36.3+k3s1": 36, "1.37.2": 37, "1.38": 38, "1.99": 99} {
		t.Run("KAZ-17 "+text, func(t *testing.T) {
			if got, err := kubeletauthz.ParseMinor(text); err != nil || got != want {
				t.Errorf("ParseMinor(%q) = %v, %v, want %v", text, got, err, want)
			}
		})
	}
	for _, text := range []string{"", "1", "1.", "36", "1.30", "2.36", "1.-36", "1.36x", "v", "1.99999999999"} {
		if _, err := kubeletauthz.ParseMinor(text); !errors.Is(err, kubeletauthz.ErrMinor) {
			t.Errorf("ParseMinor(%q) error = %v, want ErrMinor", text, err)
		}
	}
}

func TestMapDoesNotAllocate(t *testing.T) {
	m := mapper(t, kubeletauthz.Options{Node: "node-1", HardenedVerbs: true})
	n := testing.AllocsPerRun(100, func() {
		for _, c := range pathCases {
			a := m.Map("GET", c.path, "")
			_ = a.At(a.Len() - 1)
		}
	})
	if n != 0 {
		t.Errorf("Map allocates %v times, want 0", n)
	}
}
