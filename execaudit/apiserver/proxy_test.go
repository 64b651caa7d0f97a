package apiserver_test

import (
	"errors"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/lanyard-dev/lanyard/execaudit"
	"github.com/lanyard-dev/lanyard/execaudit/apiserver"
)

const (
	proxiedID = "f4a3b2c1-5d6e-4f70-8192-a3b4c5d6e7f8"
	withID    = "&env=KUBERNETES_EXEC_AUDIT_ID%3D" + proxiedID
	forgery   = "env=KUBERNETES_EXEC_AUDIT_ID%3Dfake"
	command   = "command=sh&output=1"
)

// toKubelet is where a connector proxies to: what follows proxy/ is the path.
func toKubelet(path string) *url.URL {
	return &url.URL{Scheme: "https", Host: "n:10250", Path: path}
}

// asked is a request as net/http makes it of what a client sends.
func asked(t interface{ Fatalf(string, ...any) }, method, query string) *http.Request {
	u, err := url.ParseRequestURI("/api/v1/nodes/n/proxy/x?" + query)
	if err != nil {
		t.Fatalf("%v", err)
	}
	return &http.Request{Method: method, URL: u, Header: http.Header{}, Body: http.NoBody}
}

// mayBeExec are paths behind proxy/ that a kubelet may read as its exec endpoint.
var mayBeExec = []string{
	"/exec/ns/p/c", "/exec/ns/p/uid/c", "exec/ns/p/c", "/exec/ns/p/c/", "/exec", "/exec/",
	"//exec/ns/p/c", "/exec//ns/p/c", "/./exec/ns/p/c", "/healthz/../exec/ns/p/c", "/exec/../healthz", "/healthz/./ns", "/exec/ns/p/c/.",
	"/%65xec/ns/p/c", "/%2565xec/ns/p/c", "/healthz%2f..%2fexec/ns/p/c", "/../exec/ns/p/c", "/exec/ns/p/c//",
}

var notExec = []string{"", "/", "/executor", "/healthz", "/healthz/", "/run/ns/p/c", "/attach/ns/p/c", "/containerLogs/ns/p/exec", "/logs/exec/x", "/Exec/ns/p/c"}

func TestInjectProxied(t *testing.T) {
	methods := []string{http.MethodGet, http.MethodPost, http.MethodPut, http.MethodHead, http.MethodOptions}
	for _, path := range mayBeExec {
		for _, method := range methods {
			t.Run("EXA-38 carries the audit ID: "+method+" "+path, func(t *testing.T) {
				var counts counter
				exec := apiserver.Exec{Gates: bothGates, Recorder: &counts}
				r, location := asked(t, method, command+"&env=A%3D1"), toKubelet(path)
				got, result, err := exec.InjectProxied(r, location, proxiedID)
				if err != nil || got.Path != path || got.Host != "n:10250" || got.RawQuery != command+"&env=A%3D1"+withID || result != apiserver.ResultInjected {
					t.Fatalf("InjectProxied = %v, %s, %v", got, result, err)
				}
				if !maps.Equal(counts.count, map[apiserver.Result]int{apiserver.ResultInjected: 1}) {
					t.Errorf("EXA-13 counted %v", counts.count)
				}
				if r.URL.RawQuery != command+"&env=A%3D1" || *location != *toKubelet(path) {
					t.Errorf("the caller's request or location changed: %s, %s", r.URL, location)
				}
			})
		}
		t.Run("EXA-25 a forged ID is refused, and not counted: "+path, func(t *testing.T) {
			for _, gates := range []execaudit.Gates{{}, {ExecEnvVar: true}, bothGates} {
				var counts counter
				got, _, err := apiserver.Exec{Gates: gates, Recorder: &counts}.InjectProxied(asked(t, http.MethodGet, command+"&"+forgery), toKubelet(path), proxiedID)
				want := "env[0].name: Forbidden: KUBERNETES_EXEC_AUDIT_ID is reserved by the API server"
				if got != nil || err == nil || err.Error() != want || counts.count != nil {
					t.Errorf("gates %+v: InjectProxied = %v, %v, counted %v", gates, got, err, counts.count)
				}
			}
		})
	}
	for _, path := range notExec {
		t.Run("EXA-38 what is not an exec passes as it is: "+path, func(t *testing.T) {
			var counts counter
			r := asked(t, http.MethodPost, forgery+"&x=1;y&%zz")
			r.ContentLength = 7
			got, result, err := apiserver.Exec{Gates: bothGates, Recorder: &counts}.InjectProxied(r, toKubelet(path), proxiedID)
			if err != nil || got.Path != path || got.RawQuery != forgery+"&x=1;y&%zz" || result != "" || counts.count != nil {
				t.Errorf("InjectProxied = %v, %s, %v, counted %v", got, result, err, counts.count)
			}
		})
	}
}

func TestInjectProxiedGates(t *testing.T) {
	cases := []struct {
		name   string
		gates  execaudit.Gates
		id     string
		query  string
		want   string
		result apiserver.Result
	}{
		{"EXA-11 no ID", bothGates, "", command, command + "&env=KUBERNETES_EXEC_AUDIT_ID%3Dunknown", apiserver.ResultPlaceholder},
		{"EXA-12 ExecRequestID off", execaudit.Gates{ExecEnvVar: true}, proxiedID, command + "&env=A%3D1", command + "&env=A%3D1", apiserver.ResultSkipped},
		{"EXA-1 ExecRequestID alone", execaudit.Gates{ExecRequestID: true}, proxiedID, command, command, apiserver.ResultSkipped},
		{"EXA-29 both off: other names are the kubelet's to judge", execaudit.Gates{}, proxiedID, "env=1B%3D&env=A", "env=1B%3D&env=A", apiserver.ResultSkipped},
		{"EXA-10 no query before", bothGates, proxiedID, "", withID[1:], apiserver.ResultInjected},
		{"EXA-10 odd parameters stay as they are", bothGates, proxiedID, "&a&a=&b=%zz;x&&", "&a&a=&b=%zz;x&&" + withID, apiserver.ResultInjected},
		{"EXA-38 a raw '#' does not cut the ID off", bothGates, proxiedID, command + "&x=#", command + "&x=%23" + withID, apiserver.ResultInjected},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			var counts counter
			exec := apiserver.Exec{Gates: c.gates, Recorder: &counts}
			got, result, err := exec.InjectProxied(asked(t, http.MethodPost, c.query), toKubelet("/exec/ns/p/c"), c.id)
			if err != nil || got.RawQuery != c.want || result != c.result || !maps.Equal(counts.count, map[apiserver.Result]int{c.result: 1}) {
				t.Errorf("InjectProxied = %v, %s, %v, counted %v, want %s, %s", got, result, err, counts.count, c.want, c.result)
			}
		})
	}
}

func TestInjectProxiedRefuses(t *testing.T) {
	cases := []struct {
		name, query string
		want        []string // the beginnings of the faults
	}{
		{"EXA-25 a reserved name, escaped", "e%6Ev=%4bUBERNETES_EXEC_AUDIT_ID=hunter2", []string{"env[0].name: Forbidden"}},
		{"EXA-25 a reserved name, in lower case", "env=kubernetes_exec_audit_id%3Dhunter2", []string{"env[0].name: Forbidden"}},
		{"EXA-25 behind a key that does not decode", "%zz=KUBERNETES_EXEC_AUDIT_ID%3Dhunter2", []string{"env[0].name: Forbidden"}},
		{"EXA-25 EXA-32 behind a semicolon", "a=1;env=KUBERNETES_EXEC_AUDIT_ID%3Dhunter2", []string{"env[0]: Invalid value: must not contain an unescaped semicolon"}},
		{
			"EXA-38 EXA-35 every fault of an exec through pods/exec", "env=A%3D1&env=hunter2%zz&env=1B%3D&env=hunter2&env=A%3D%00&env=KUBERNETES_EXEC_AUDIT_ID%3D&env=%3Dhunter2",
			[]string{
				"env[1]: Invalid value: must not contain a malformed percent escape", `env[2].name: Invalid value: "1B"`, "env[3]: Invalid value: must be NAME=VALUE",
				`env[4].name: Duplicate value: "A"`, "env[4].value: Invalid value: must not contain a NUL", "env[5].name: Forbidden", "env[6].name: Required value",
			},
		},
		{"EXA-38 EXA-5 too many", strings.Repeat("env=A%3D1&", 300), []string{"env: Too many: 300"}},
		{"EXA-38 EXA-6 too long", "env=A%3D" + strings.Repeat("x", execaudit.MaxEnvBytes), []string{"env: Too long"}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			var counts counter
			got, _, err := apiserver.Exec{Gates: bothGates, Recorder: &counts}.InjectProxied(asked(t, http.MethodGet, command+"&"+c.query), toKubelet("/exec/ns/p/c"), proxiedID)
			var texts []string
			for _, fault := range execaudit.FaultsOf(err) {
				texts = append(texts, fault.Error())
			}
			if c.name == "EXA-38 EXA-5 too many" { // duplicates besides
				texts = texts[:1]
			}
			if got != nil || counts.count != nil || !slices.EqualFunc(texts, c.want, strings.HasPrefix) || strings.Contains(err.Error(), "hunter2") {
				t.Errorf("InjectProxied = %v, %v, want %q", got, err, c.want)
			}
		})
	}
	t.Run("EXA-25 the option's names", func(t *testing.T) {
		prefix := apiserver.Exec{Reserved: execaudit.ReservedPrefix}
		if _, _, err := prefix.InjectProxied(asked(t, http.MethodGet, "env=KUBERNETES_X%3D1"), toKubelet("/exec/ns/p/c"), ""); len(execaudit.FaultsOf(err)) != 1 {
			t.Errorf("InjectProxied = %v, want one fault", err)
		}
	})
	t.Run("EXA-38 EXA-25 a body, in which a kubelet might read a form, whatever the gates", func(t *testing.T) {
		for _, gates := range []execaudit.Gates{{}, bothGates} {
			for _, length := range []int64{1, -1} {
				r := httptest.NewRequest(http.MethodPost, "/x?"+command, strings.NewReader(forgery))
				r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
				r.ContentLength = length
				if got, _, err := (apiserver.Exec{Gates: gates}).InjectProxied(r, toKubelet("/exec/ns/p/c"), proxiedID); got != nil || !errors.Is(err, apiserver.ErrProxiedBody) {
					t.Errorf("gates %+v, length %d: InjectProxied = %v, %v", gates, length, got, err)
				}
			}
		}
	})
}

// TestProxiedAsConnectersDo sends what InjectProxied returns through net/http's own proxy to a server that routes as
// kubelets do, by the standard library.
func TestProxiedAsConnectersDo(t *testing.T) {
	var reached []*http.Request
	kubelet := http.NewServeMux()
	kubelet.HandleFunc("/exec/", func(_ http.ResponseWriter, r *http.Request) { reached = append(reached, r) })
	for _, path := range mayBeExec {
		for _, query := range []string{command, command + "&env=A%3D1&x=#", "env=A%3D1&x=1;y", "#"} {
			t.Run("EXA-38 the kubelet's exec endpoint is not reached without the ID: "+path+"?"+query, func(t *testing.T) {
				reached = nil
				u, _, err := apiserver.Exec{Gates: bothGates}.InjectProxied(asked(t, http.MethodGet, query), toKubelet(path), proxiedID)
				if err != nil {
					t.Fatal(err)
				}
				serve(t, kubelet, u)
				for _, r := range reached {
					if !carriesID(r.URL) {
						t.Errorf("the kubelet was asked %s", r.URL)
					}
				}
			})
		}
	}
}

// serve parses u once more, as proxies do, and follows what the handler answers for a path that is not clean.
func serve(t interface{ Fatalf(string, ...any) }, handler http.Handler, u *url.URL) {
	again, err := url.Parse(u.String())
	if err != nil {
		t.Fatalf("%v", err)
	}
	for range 3 {
		sent, err := url.ParseRequestURI(again.RequestURI())
		if err != nil {
			t.Fatalf("%v", err)
		}
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, &http.Request{Method: http.MethodGet, URL: sent, Host: "n", Header: http.Header{}, Body: http.NoBody})
		location := w.Header().Get("Location")
		if location == "" {
			return
		}
		if again, err = again.Parse(location); err != nil {
			t.Fatalf("%v", err)
		}
	}
}

// carriesID reports whether the ID is the last env parameter, and the only one of a reserved name.
func carriesID(u *url.URL) bool {
	all, _ := url.ParseQuery(u.RawQuery)
	envs := all["env"]
	reserved := 0
	for _, text := range envs {
		if name, _, _ := strings.Cut(text, "="); execaudit.ReservedList.Reserves(name) {
			reserved++
		}
	}
	return reserved == 1 && envs[len(envs)-1] == execaudit.AuditIDName+"="+proxiedID
}

func FuzzInjectProxied(f *testing.F) {
	for i, path := range slices.Concat(mayBeExec, notExec) {
		f.Add(path, []string{command, forgery, "x=#&" + command, "a;env=A=1", "env=A%3D1", "%zz=A", ""}[i%7])
	}
	f.Fuzz(func(t *testing.T, proxied, query string) {
		sent, err := url.ParseRequestURI("/x?" + query)
		if err != nil || strings.ContainsAny(query, " ") {
			return // no such request line
		}
		r := &http.Request{Method: http.MethodGet, URL: sent, Body: http.NoBody}
		u, result, err := apiserver.Exec{Gates: bothGates}.InjectProxied(r, toKubelet(proxied), proxiedID)
		isExec := strings.HasPrefix(path.Clean("/"+proxied)+"/", "/exec/")
		switch {
		case err != nil:
			if u != nil || result != "" || execaudit.FaultsOf(err) == nil {
				t.Fatalf("InjectProxied(%q, %q) = %v, %s, %v", proxied, query, u, result, err)
			}
			return
		case result == "":
			if isExec || u.RawQuery != query {
				t.Fatalf("InjectProxied(%q, %q) = %v and nothing injected", proxied, query, u)
			}
			return
		case u.Path != proxied || !strings.HasSuffix(u.RawQuery, withID[1:]):
			t.Fatalf("InjectProxied(%q, %q) = %v", proxied, query, u)
		}
		kubelet := http.NewServeMux()
		kubelet.HandleFunc("/exec/", func(_ http.ResponseWriter, r *http.Request) {
			if !carriesID(r.URL) {
				t.Fatalf("InjectProxied(%q, %q) = %v: the kubelet was asked %s", proxied, query, u, r.URL)
			}
		})
		serve(t, kubelet, u)
	})
}
