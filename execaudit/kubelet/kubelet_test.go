package kubelet_test

import (
	"errors"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/lanyard-dev/lanyard/envprecedence"
	"github.com/lanyard-dev/lanyard/execaudit"
	"github.com/lanyard-dev/lanyard/execaudit/kubelet"
)

type env = envprecedence.Entry

// environ returns each entry as NAME=VALUE.
func environ(envs []env) (all []string) {
	for _, e := range envs {
		all = append(all, e.Name+"="+e.Value.Reveal())
	}
	return all
}

var (
	apiServer = kubelet.Identity{Name: "kube-apiserver-kubelet-client", Groups: []string{"system:authenticated"}}
	other     = kubelet.Identity{Name: "mallory", Groups: []string{"system:authenticated"}}
	exec      = kubelet.Exec{
		Gates: execaudit.Gates{ExecEnvVar: true},
		Trust: kubelet.Trust{Names: []string{apiServer.Name}},
	}
)

const auditID = "KUBERNETES_EXEC_AUDIT_ID"

func TestRead(t *testing.T) {
	t.Run("EXA-16 in order, among other parameters", func(t *testing.T) {
		got, err := exec.Read("command=sh&env=B%3D1&env=A%3D2&input=1&env="+auditID+"%3Dx", apiServer)
		if want := []env{envprecedence.NewEntry("B", "1"), envprecedence.NewEntry("A", "2"), envprecedence.NewEntry(auditID, "x")}; err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("Read = %q, %v", environ(got), err)
		}
	})
	t.Run("EXA-16 gate off: ignored, whatever they hold", func(t *testing.T) {
		off := kubelet.Exec{Trust: exec.Trust}
		for _, query := range []string{"env=A%3D1", "env=%zz&env=1", "env=" + auditID + "%3Dx"} {
			if got, err := off.Read(query, other); got != nil || err != nil {
				t.Errorf("Read(%q) = %v, %v, want nothing", query, got, err)
			}
		}
	})
	t.Run("EXA-16 no env", func(t *testing.T) {
		if got, err := exec.Read("command=sh&input=1", other); got != nil || err != nil {
			t.Errorf("Read = %v, %v, want nothing", got, err)
		}
	})
	bad := map[string]struct{ query, want string }{
		"EXA-16 without '='":     {"env=A%3D1&env=hunter2", "env[1]: Invalid value: must be NAME=VALUE"},
		"EXA-16 an empty name":   {"env=%3Dhunter2", "env[0].name: Required value"},
		"EXA-16 all at once":     {"env=hunter2&env=%3Dhunter2", "[env[0]: Invalid value: must be NAME=VALUE, env[1].name: Required value]"},
		"percent garbage":        {"env=A%3Dhunter2%", "env[0]: Invalid value: must not contain a malformed percent escape"},
		"NUL":                    {"env=A%3Dhunter2%00", "env[0].value: Invalid value: must not contain a NUL byte"},
		"too many":               {strings.Repeat("env=A%3D1&", kubelet.MaxEntries+1), "env: Too many: 513: must have at most 512 items"},
		"too long":               {"env=A%3D" + strings.Repeat("x", kubelet.MaxBytes), "env: Too long: may not be more than 65536 bytes"},
		"a 400 even if reserved": {"env=" + auditID, "env[0]: Invalid value: must be NAME=VALUE"},
	}
	for name, c := range bad {
		t.Run(name, func(t *testing.T) {
			got, err := exec.Read(c.query, other)
			var refused *kubelet.RequestError
			if got != nil || !errors.As(err, &refused) || refused.Code != http.StatusBadRequest || err.Error() != c.want {
				t.Errorf("Read = %v, %v, want 400: %s", got, err, c.want)
			}
		})
	}
	t.Run("EXA-35 EXA-25 a forgery beside what cannot be read is reported with it, each with its place", func(t *testing.T) {
		const query = "env=hunter2&env=A%3D1&env=" + auditID + "%3Dhunter2&env=B%3D%00"
		want := "[env[0]: Invalid value: must be NAME=VALUE, env[2].name: Forbidden: KUBERNETES_EXEC_AUDIT_ID is reserved by the API server, " +
			"env[3].value: Invalid value: must not contain a NUL byte]"
		got, err := exec.Read(query, other)
		var refused *kubelet.RequestError
		if got != nil || !errors.As(err, &refused) || refused.Code != http.StatusBadRequest || err.Error() != want {
			t.Errorf("Read = %v, %v, want 400: %s", got, err, want)
		}
		if _, err := exec.Read(query, apiServer); !errors.As(err, &refused) || len(refused.Faults) != 2 {
			t.Errorf("Read for the API server = %v, want two faults", err)
		}
	})
	t.Run("the API's limits and the API server's own entry fit", func(t *testing.T) {
		query := strings.Repeat("env=A%3D"+strings.Repeat("x", 127)+"&", execaudit.MaxEnvEntries) + "env=" + auditID + "%3Dx"
		if got, err := exec.Read(query, apiServer); len(got) != 257 || err != nil {
			t.Errorf("Read = %d entries, %v, want 257", len(got), err)
		}
	})
}

func TestTrust(t *testing.T) {
	const query = "env=A%3D1&env=" + auditID + "%3Dhunter2&env=KUBERNETES_X%3D1"
	t.Run("EXA-25 refused from anybody else, by position and name", func(t *testing.T) {
		for _, reserved := range []execaudit.Reserved{execaudit.ReservedList, execaudit.ReservedPrefix} {
			strict := exec
			strict.Reserved = reserved
			got, err := strict.Read(query, other)
			var refused *kubelet.RequestError
			if got != nil || !errors.As(err, &refused) || refused.Code != http.StatusForbidden || len(refused.Faults) != 1+int(reserved) {
				t.Fatalf("Read = %v, %v", got, err)
			}
			if want := "env[1].name: Forbidden: KUBERNETES_EXEC_AUDIT_ID is reserved by the API server"; refused.Faults[0].Error() != want {
				t.Errorf("fault %v, want %s", refused.Faults[0], want)
			}
			if strings.Contains(err.Error(), "hunter2") {
				t.Errorf("the error repeats a value: %v", err)
			}
		}
	})
	identities := []struct {
		name  string
		trust kubelet.Trust
		id    kubelet.Identity
		want  bool
	}{
		{"EXA-25 nobody is trusted by default", kubelet.Trust{}, apiServer, false},
		{"by name", kubelet.Trust{Names: []string{"a", apiServer.Name}}, apiServer, true},
		{"by group", kubelet.Trust{Groups: []string{"apiservers"}}, kubelet.Identity{Name: "x", Groups: []string{"g", "apiservers"}}, true},
		{"EXA-25 a group named as a trusted user", kubelet.Trust{Names: []string{"x"}}, kubelet.Identity{Name: "y", Groups: []string{"x"}}, false},
		{"EXA-25 a user named as a trusted group", kubelet.Trust{Groups: []string{"x"}}, kubelet.Identity{Name: "x"}, false},
		{"EXA-25 no name is no name", kubelet.Trust{Names: []string{""}, Groups: []string{""}}, kubelet.Identity{Groups: []string{""}}, false},
	}
	for _, c := range identities {
		t.Run(c.name, func(t *testing.T) {
			if got := c.trust.Trusts(c.id); got != c.want {
				t.Errorf("Trusts(%+v) = %t, want %t", c.id, got, c.want)
			}
			reads := kubelet.Exec{Gates: exec.Gates, Trust: c.trust}
			if _, err := reads.Read(query, c.id); (err == nil) != c.want {
				t.Errorf("Read = %v, want accepted: %t", err, c.want)
			}
		})
	}
}

func TestResolve(t *testing.T) {
	cases := []struct {
		name       string
		own, query []string
		want       []string
	}{
		{"nothing", nil, nil, nil},
		{"EXA-31 kubelet, reserved names, caller", []string{"K=k"}, []string{"C=c", auditID + "=id", "B=b"}, []string{"K=k", auditID + "=id", "C=c", "B=b"}},
		{"EXA-31 the kubelet's over the API server's", []string{auditID + "=mine"}, []string{auditID + "=theirs", "A=1"}, []string{auditID + "=mine", "A=1"}},
		{"EXA-31 the kubelet's over the caller's", []string{"A=mine"}, []string{"A=1", "B=2"}, []string{"A=mine", "B=2"}},
		{"EXA-31 the last in a tier", []string{"K=1", "L=2", "K=3"}, []string{"A=1", "B=2", "A=3"}, []string{"L=2", "K=3", "B=2", "A=3"}},
		{"EXA-14 of two audit IDs the last, the API server's", nil, []string{auditID + "=fake", "A=1", auditID + "=id"}, []string{auditID + "=id", "A=1"}},
		{
			"EXA-25 a forgery in another case, as Windows reads it", nil,
			[]string{"kubernetes_exec_audit_id=fake", auditID + "=id"},
			[]string{auditID + "=id"},
		},
		{"other names keep their case apart", nil, []string{"a=1", "A=2"}, []string{"a=1", "A=2"}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			got := kubelet.Resolve(parse(t, c.own), parse(t, c.query), execaudit.ReservedList)
			if !slices.Equal(environ(got), c.want) {
				t.Errorf("Resolve = %q, want %q", environ(got), c.want)
			}
		})
	}
}

func parse(t *testing.T, environ []string) []env {
	t.Helper()
	var envs []env
	for _, text := range environ {
		e, err := execaudit.ParseAssignment(text)
		if err != nil {
			t.Fatal(err)
		}
		envs = append(envs, e)
	}
	return envs
}

func TestResolveLaws(t *testing.T) {
	entries := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) env {
		name := rapid.SampledFrom([]string{"A", "B", "C", auditID, "KUBERNETES_X"}).Draw(t, "name")
		return envprecedence.NewEntry(name, rapid.StringMatching(`[0-9]{0,3}`).Draw(t, "value"))
	}), 0, 8)
	last := func(envs []env, name string) (string, bool) {
		for _, e := range slices.Backward(envs) {
			if e.Name == name {
				return e.Value.Reveal(), true
			}
		}
		return "", false
	}
	rapid.Check(t, func(t *rapid.T) {
		own, query := entries.Draw(t, "own"), entries.Draw(t, "query")
		ownBefore, queryBefore := slices.Clone(own), slices.Clone(query)
		got := kubelet.Resolve(own, query, execaudit.ReservedPrefix)
		seen := map[string]bool{}
		for _, e := range got {
			want, found := last(own, e.Name)
			if !found {
				want, found = last(query, e.Name)
			}
			if !found || e.Value.Reveal() != want || seen[e.Name] {
				t.Fatalf("Resolve(%q, %q) has %s=%s, want %q once", environ(own), environ(query), e.Name, e.Value.Reveal(), want)
			}
			seen[e.Name] = true
		}
		for _, e := range append(slices.Clone(own), query...) {
			if !seen[e.Name] {
				t.Fatalf("Resolve lost %s", e.Name)
			}
		}
		if again := kubelet.Resolve(nil, kubelet.Resolve(nil, query, 0), 0); !reflect.DeepEqual(again, kubelet.Resolve(nil, query, 0)) {
			t.Fatal("not idempotent")
		}
		if !reflect.DeepEqual(own, ownBefore) || !reflect.DeepEqual(query, queryBefore) {
			t.Fatal("an input changed")
		}
	})
}

func FuzzRead(f *testing.F) {
	for _, seed := range []string{"", "env=A%3D1", "env", "env=%3D", "env=%zz", "env=" + auditID + "=x", "env=kubernetes_exec_audit_id=1", "e%6ev=A=1;b"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, query string) {
		envs, err := exec.Read(query, other)
		for _, e := range envs {
			if err != nil || e.Name == "" || strings.EqualFold(e.Name, auditID) || strings.Contains(e.Name+e.Value.Reveal(), "\x00") {
				t.Fatalf("Read(%q) = %q, %v", query, environ(envs), err)
			}
		}
		names := map[string]bool{}
		for _, e := range kubelet.Resolve(nil, envs, execaudit.ReservedList) {
			if names[e.Name] {
				t.Fatalf("Resolve has %q twice", e.Name)
			}
			names[e.Name] = true
		}
	})
}
