package apiserver_test

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"reflect"
	"strings"
	"sync"
	"testing"

	"k8s.io/apimachinery/pkg/util/validation/field"
	"pgregory.net/rapid"

	"github.com/lanyard-dev/lanyard/envprecedence"
	"github.com/lanyard-dev/lanyard/execaudit"
	"github.com/lanyard-dev/lanyard/execaudit/apiserver"
)

type env = envprecedence.Entry

// environ returns each entry as NAME=VALUE.
func environ(envs []env) (all []string) {
	for _, e := range envs {
		all = append(all, e.Name+"="+e.Value.Reveal())
	}
	return all
}

var bothGates = execaudit.Gates{ExecEnvVar: true, ExecRequestID: true}

// counter is a Recorder that can be read.
type counter struct {
	mu    sync.Mutex
	count map[apiserver.Result]int
}

func (c *counter) AuditIDInjected(result apiserver.Result) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.count == nil {
		c.count = make(map[apiserver.Result]int)
	}
	c.count[result]++
}

func mustParse(t *testing.T, text string) *url.URL {
	t.Helper()
	u, err := url.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

func TestInject(t *testing.T) {
	const base = "https://n:10250/exec/ns/p/c?command=sh&command=-c&command=echo+%24A&input=1&output=1&tty=1"
	const id = "f4a3b2c1-5d6e-4f70-8192-a3b4c5d6e7f8"
	requestIDOff := execaudit.Gates{ExecEnvVar: true}
	requestIDAlone := execaudit.Gates{ExecRequestID: true}
	caller := []env{envprecedence.NewEntry("B", "x y&z=1"), envprecedence.NewEntry("A", "")}
	cases := []struct {
		name    string
		gates   execaudit.Gates
		url     string
		envs    []env
		auditID string
		want    string
		result  apiserver.Result
	}{
		{
			"EXA-10 EXA-15 both gates on, no PodExecOptions.Env at all", bothGates, base, nil, id,
			base + "&env=KUBERNETES_EXEC_AUDIT_ID%3D" + id, apiserver.ResultInjected,
		},
		{"EXA-10 the ID is escaped", bothGates, base, nil, "a b&c=%", base + "&env=KUBERNETES_EXEC_AUDIT_ID%3Da+b%26c%3D%25", apiserver.ResultInjected},
		{
			"EXA-10 odd parameters stay as they are", bothGates, "https://n/exec?&z=%zz;x&a&a=&env=A=1&&#f", nil, "i",
			"https://n/exec?&z=%zz;x&a&a=&env=A=1&&&env=KUBERNETES_EXEC_AUDIT_ID%3Di#f", apiserver.ResultInjected,
		},
		{
			"EXA-10 EXA-38 a raw '#' does not end the query", bothGates, "https://n/exec?a=%23", nil, "i",
			"https://n/exec?a=%23&env=KUBERNETES_EXEC_AUDIT_ID%3Di", apiserver.ResultInjected,
		},
		{"EXA-10 no query before", bothGates, "https://n/exec", nil, "i", "https://n/exec?env=KUBERNETES_EXEC_AUDIT_ID%3Di", apiserver.ResultInjected},
		{"EXA-11 no ID", bothGates, base, nil, "", base + "&env=KUBERNETES_EXEC_AUDIT_ID%3Dunknown", apiserver.ResultPlaceholder},
		{"EXA-11 an ID that no environment can carry", bothGates, base, nil, "a\x00", base + "&env=KUBERNETES_EXEC_AUDIT_ID%3Dunknown", apiserver.ResultPlaceholder},
		{"an ID that is not UTF-8", bothGates, base, nil, "\xff", base + "&env=KUBERNETES_EXEC_AUDIT_ID%3Dunknown", apiserver.ResultPlaceholder},
		{"an ID of over 1 KiB", bothGates, base, nil, strings.Repeat("x", 1025), base + "&env=KUBERNETES_EXEC_AUDIT_ID%3Dunknown", apiserver.ResultPlaceholder},
		{"EXA-12 ExecRequestID off", requestIDOff, base, nil, id, base, apiserver.ResultSkipped},
		{"EXA-12 ExecRequestID off, with Env", requestIDOff, base, caller, id, base + "&env=B%3Dx+y%26z%3D1&env=A%3D", apiserver.ResultSkipped},
		{
			"EXA-14 the caller's entries first", bothGates, base, caller, id,
			base + "&env=B%3Dx+y%26z%3D1&env=A%3D&env=KUBERNETES_EXEC_AUDIT_ID%3D" + id, apiserver.ResultInjected,
		},
		{"EXA-12 both off", execaudit.Gates{}, base, nil, id, base, apiserver.ResultSkipped},
		{"EXA-29 ExecEnvVar off drops Env here too", execaudit.Gates{}, base, caller, id, base, apiserver.ResultSkipped},
		{"EXA-1 ExecRequestID alone has no effect", requestIDAlone, base, caller, id, base, apiserver.ResultSkipped},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			var counts counter
			u := mustParse(t, c.url)
			exec := apiserver.Exec{Gates: c.gates, Recorder: &counts}
			got, result, err := exec.Inject(u, c.envs, c.auditID)
			if err != nil || got.String() != c.want || result != c.result {
				t.Fatalf("Inject = %v, %s, %v, want %s, %s", got, result, err, c.want, c.result)
			}
			if !reflect.DeepEqual(counts.count, map[apiserver.Result]int{c.result: 1}) {
				t.Errorf("counted %v, want one %s", counts.count, c.result)
			}
			if u.String() != c.url {
				t.Errorf("the caller's URL became %s", u)
			}
		})
	}
}

func TestInjectOwnsNothing(t *testing.T) {
	envs := append(make([]env, 0, 9), envprecedence.NewEntry("A", ""))
	if _, _, err := (apiserver.Exec{Gates: bothGates}).Inject(mustParse(t, "https://n/exec"), envs, "i"); err != nil {
		t.Fatal(err)
	}
	if got := envs[:2][1]; got != (env{}) {
		t.Errorf("Inject wrote %s behind the caller's slice", got)
	}
}

func TestInjectRefuses(t *testing.T) {
	var counts counter
	exec := apiserver.Exec{Gates: bothGates, Recorder: &counts}
	t.Run("what Validate would not have passed, without counting it", func(t *testing.T) {
		got, _, err := exec.Inject(mustParse(t, "https://n/exec"), []env{envprecedence.NewEntry("A", "hunter2\x00")}, "i")
		if got != nil || err == nil || strings.Contains(err.Error(), "hunter2") || counts.count != nil {
			t.Errorf("Inject = %v, %v, counted %v", got, err, counts.count)
		}
	})
}

func TestInjectLaws(t *testing.T) {
	t.Run("EXA-10 EXA-14 the kubelet finds what was there, then the caller's, then the ID last", func(t *testing.T) {
		rapid.Check(t, func(t *rapid.T) {
			query := rapid.StringMatching(`([a-e]=[A-C]{0,2}){0,1}(&[a-e]=[A-C]{0,2}){0,3}`).Draw(t, "query")
			id := rapid.StringN(1, 40, 64).Draw(t, "id")
			envs := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) env {
				return envprecedence.NewEntry(rapid.StringMatching(`[A-C]{1,2}`).Draw(t, "name"), rapid.StringMatching(`[ -~äö\n]{0,5}`).Draw(t, "value"))
			}), 0, 4).Draw(t, "envs")
			if strings.Contains(id, "\x00") {
				t.Skip("not carriable")
			}
			got, _, err := apiserver.Exec{Gates: bothGates}.Inject(&url.URL{Path: "/exec", RawQuery: query}, envs, id)
			if err != nil || !strings.HasPrefix(got.RawQuery, query) {
				t.Fatalf("Inject = %v, %v, want %q and more", got, err, query)
			}
			want := append(environ(envs), execaudit.AuditIDName+"="+id)
			if found := got.Query()["env"]; !reflect.DeepEqual(found, want) {
				t.Fatalf("a kubelet finds %q, want %q", found, want)
			}
		})
	})
}

func TestDecodeAndValidate(t *testing.T) {
	on := apiserver.Exec{Gates: execaudit.Gates{ExecEnvVar: true}}
	t.Run("what the client sent, as a structured list", func(t *testing.T) {
		got, faults := on.Decode("command=sh&env=A%3D1%2C2&stdin=true&env=B%3D")
		if want := []env{envprecedence.NewEntry("A", "1,2"), envprecedence.NewEntry("B", "")}; !reflect.DeepEqual(got, want) || faults != nil {
			t.Errorf("Decode = %q, %v", environ(got), faults)
		}
	})
	t.Run("EXA-29 gate off: dropped and not validated", func(t *testing.T) {
		if got, faults := (apiserver.Exec{}).Decode("env=%zz&env=1"); got != nil || faults != nil {
			t.Errorf("Decode = %v, %v, want nothing", got, faults)
		}
		if got, faults := (apiserver.Exec{}).Validate([]env{envprecedence.NewEntry(execaudit.AuditIDName, ""), {}}); got != nil || faults != nil {
			t.Errorf("Validate = %v, %v, want nothing", got, faults)
		}
	})
	t.Run("EXA-14 EXA-25 what a mutating webhook adds is validated", func(t *testing.T) {
		decoded, _ := on.Decode("env=A%3D1")
		mutated := append(decoded, envprecedence.NewEntry(execaudit.AuditIDName, "fake"))
		got, faults := on.Validate(mutated)
		want := "env[1].name: Forbidden: KUBERNETES_EXEC_AUDIT_ID is reserved by the API server"
		if got != nil || faults == nil || faults.Error() != want {
			t.Errorf("Validate = %v, %v, want %s", got, faults, want)
		}
	})
	t.Run("EXA-7 the profile is the option's", func(t *testing.T) {
		envs := []env{envprecedence.NewEntry("KUBERNETES_SERVICE_HOST", "x")}
		if got, faults := on.Validate(envs); len(got) != 1 || faults != nil {
			t.Errorf("list: Validate = %v, %v", got, faults)
		}
		prefix := apiserver.Exec{Gates: on.Gates, Reserved: execaudit.ReservedPrefix}
		if got, faults := prefix.Validate(envs); got != nil || len(execaudit.FaultsOf(faults)) != 1 {
			t.Errorf("prefix: Validate = %v, %v", got, faults)
		}
	})
	t.Run("faults of the client's URL", func(t *testing.T) {
		if got, faults := on.Decode("env=A&env==1"); got != nil || len(execaudit.FaultsOf(faults)) != 2 {
			t.Errorf("Decode = %v, %v, want two faults", got, faults)
		}
	})
}

func TestFaultsTogether(t *testing.T) {
	on := apiserver.Exec{Gates: execaudit.Gates{ExecEnvVar: true}}
	t.Run("EXA-35 faults of decoding and faults of validation are reported together, each with its place", func(t *testing.T) {
		query := "env=A%3D1&env=hunter2&env=1B%3Dhunter2&command=sh&env=A%3Dhunter2%00&env=%zz&env=KUBERNETES_EXEC_AUDIT_ID%3Dhunter2&env=%3Dhunter2&env=C%3D1;x"
		got, err := on.Decode(query)
		faults := execaudit.FaultsOf(err)
		want := []string{
			"env[1]: Invalid value: must be NAME=VALUE",
			"env[2].name: Invalid value: \"1B\"",
			"env[3].name: Duplicate value: \"A\"",
			"env[3].value: Invalid value: must not contain a NUL byte",
			"env[4]: Invalid value: must not contain a malformed percent escape",
			"env[5].name: Forbidden: KUBERNETES_EXEC_AUDIT_ID is reserved by the API server",
			"env[6].name: Required value",
			"env[7]: Invalid value: must not contain an unescaped semicolon",
		}
		if got != nil || len(faults) != len(want) {
			t.Fatalf("Decode = %v, %v, want %q", got, faults, want)
		}
		for i, fault := range faults {
			if !strings.HasPrefix(fault.Error(), want[i]) || strings.Contains(fault.Error(), "hunter2") {
				t.Errorf("fault %d = %v, want %s", i, fault, want[i])
			}
		}
	})
	t.Run("EXA-35 the option's names are reported too", func(t *testing.T) {
		prefix := apiserver.Exec{Gates: on.Gates, Reserved: execaudit.ReservedPrefix}
		if _, err := prefix.Decode("env=A&env=KUBERNETES_X%3D1"); len(execaudit.FaultsOf(err)) != 2 || apiserver.ErrorList(err, nil)[1].Field != "env[1].name" {
			t.Errorf("Decode = %v, want two faults", err)
		}
	})
	t.Run("EXA-35 over the limits, what was read is still validated", func(t *testing.T) {
		long := "env=1B%3D&env=A%3D" + strings.Repeat("x", execaudit.MaxEnvBytes) + strings.Repeat("&env=2B%3D", execaudit.MaxEnvEntries)
		var got []string
		_, err := on.Decode(long)
		for _, fault := range apiserver.ErrorList(err, nil) {
			got = append(got, fault.Field+" "+string(fault.Type))
		}
		want := []string{"env FieldValueTooMany", "env FieldValueTooLong", "env[0].name FieldValueInvalid"}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("faults %q, want %q", got, want)
		}
	})
	t.Run("EXA-35 each entry has the faults that it has alone", func(t *testing.T) {
		parameter := rapid.SampledFrom([]string{
			"A%3D1", "%zz", "hunter2", "1B%3D", "KUBERNETES_EXEC_AUDIT_ID%3Dx", "%3Dv", "C%3D%00", "1%3D%ff", "D%3D1;x", "%ff%3D1", "=%00",
		})
		every := func(query string) field.ErrorList {
			envs, err := on.Decode(query)
			if err == nil {
				_, err = on.Validate(envs)
			}
			return apiserver.ErrorList(err, nil)
		}
		rapid.Check(t, func(t *rapid.T) {
			var query, want []string
			for i, p := range rapid.SliceOfN(parameter, 0, 8).Draw(t, "parameters") {
				query = append(query, "env="+p)
				for _, fault := range every("env=" + p) {
					want = append(want, strings.Replace(fault.Error(), "env[0]", field.NewPath("env").Index(i).String(), 1))
				}
			}
			var got []string
			for _, fault := range every(strings.Join(query, "&")) {
				if fault.Type != field.ErrorTypeDuplicate {
					got = append(got, fault.Error())
				}
			}
			if !reflect.DeepEqual(got, want) {
				t.Fatalf("%q has the faults %q, want %q", query, got, want)
			}
		})
	})
}

func TestWithAuditIDCheck(t *testing.T) {
	cases := []struct {
		name    string
		clients apiserver.ClientIDs
		ids     []string
		keeps   bool
	}{
		{"EXA-26 a good one stays", apiserver.ClientIDsCheck, []string{"f4a3b2c1-5d6e"}, true},
		{"EXA-26 64 characters stay", apiserver.ClientIDsCheck, []string{strings.Repeat("x", 64)}, true},
		{"EXA-26 65 go", apiserver.ClientIDsCheck, []string{strings.Repeat("x", 65)}, false},
		{"EXA-26 another character goes", apiserver.ClientIDsCheck, []string{"a/b"}, false},
		{"EXA-26 an empty one goes", apiserver.ClientIDsCheck, []string{""}, false},
		{"EXA-26 two go, since readers disagree", apiserver.ClientIDsCheck, []string{"a", "b"}, false},
		{"EXA-26 EXA-11 the placeholder goes, since it is no ID", apiserver.ClientIDsCheck, []string{"unknown"}, false},
		{"EXA-26 all are ignored by option", apiserver.ClientIDsIgnore, []string{"good"}, false},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			request := httptest.NewRequest(http.MethodGet, "/api/v1/namespaces/n/pods/p/exec", nil)
			for _, id := range c.ids {
				request.Header.Add(execaudit.AuditIDHeader, id)
			}
			request.Header.Set("Authorization", "Bearer x")
			var seen http.Header
			next := http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { seen = r.Header })
			apiserver.WithAuditIDCheck(next, c.clients).ServeHTTP(httptest.NewRecorder(), request)

			if got := seen.Values(execaudit.AuditIDHeader); (len(got) > 0) != c.keeps {
				t.Errorf("the next handler sees %q, want kept: %t", got, c.keeps)
			}
			if seen.Get("Authorization") == "" {
				t.Error("another header is gone")
			}
			if got := request.Header.Values(execaudit.AuditIDHeader); !reflect.DeepEqual(got, c.ids) {
				t.Errorf("the caller's request changed: %q", got)
			}
		})
	}
	t.Run("none", func(t *testing.T) {
		called := false
		next := http.HandlerFunc(func(http.ResponseWriter, *http.Request) { called = true })
		apiserver.WithAuditIDCheck(next, apiserver.ClientIDsIgnore).ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/", nil))
		if !called {
			t.Error("the next handler was not called")
		}
	})
}
