package apiserver_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
)

// answer is how the server answers a request that opens no session; path and query stand as they are sent, which
// client-go's own requests do not grant.
func (c *cluster) answer(t testing.TB, method, path, query string) metav1.Status {
	t.Helper()
	client := must(rest.HTTPClientFor(c.admin()))(t)
	request := must(http.NewRequestWithContext(t.Context(), method, c.URL()+path+"?"+query, nil))(t)
	response := must(client.Do(request))(t)
	defer response.Body.Close()
	var status metav1.Status
	if err := json.NewDecoder(response.Body).Decode(&status); err != nil || int(status.Code) != response.StatusCode {
		t.Fatalf("%s %s?%s = %d and no Status: %v", method, path, query, response.StatusCode, err)
	}
	return status
}

func causes(status metav1.Status) []string {
	if status.Details == nil {
		return nil
	}
	var out []string
	for _, cause := range status.Details.Causes {
		out = append(out, cause.Field+": "+cause.Message)
	}
	return out
}

const podPath = "/api/v1/namespaces/default/pods/one/"

// TestUnreadableQuery sends what net/url's Query leaves out without a word: the decoder must see what the client sent.
func TestUnreadableQuery(t *testing.T) {
	c := start(t, nil)
	before := c.kubelet.count()
	for _, v := range []struct {
		name, query string
		causes      []string // field and the beginning of the message
	}{
		{"EXA-32 a raw semicolon", "env=A%3Dhunter2;x", []string{"env[0]: Invalid value: must not contain an unescaped semicolon"}},
		{"EXA-32 a bad escape", "env=A%3Dhunter2%zz", []string{"env[0]: Invalid value: must not contain a malformed percent escape"}},
		{"EXA-32 a cut escape", "env=B%3D1&env=A%3Dhunter2%4", []string{"env[1]: Invalid value: must not contain a malformed percent escape"}},
		{"EXA-32 behind a semicolon of another parameter", "x=1;env=A%3Dhunter2", []string{"env[0]: Invalid value: must not contain an unescaped semicolon"}},
		{"EXA-32 EXA-25 a reserved name", "env=KUBERNETES_EXEC_AUDIT_ID%3Dhunter2;", []string{"env[0]: Invalid value: must not contain an unescaped semicolon"}},
		{"EXA-35 EXA-32 beside faults of validation, each with its place", "env=A%3D1&env=hunter2%zz&env=1B%3D&env=x&env=KUBERNETES_EXEC_AUDIT_ID%3Dhunter2", []string{
			"env[1]: Invalid value: must not contain a malformed", `env[2].name: Invalid value: "1B"`, "env[3]: Invalid value: must be NAME=VALUE", "env[4].name: Forbidden",
		}},
	} {
		for _, method := range []string{http.MethodGet, http.MethodPost} {
			t.Run(v.name+" is refused by "+method, func(t *testing.T) {
				status := c.answer(t, method, podPath+"exec", "command=env&stdout=true&"+v.query)
				got := causes(status)
				if status.Code != http.StatusUnprocessableEntity || status.Details.Kind != "PodExecOptions" || !slices.EqualFunc(got, v.causes, strings.HasPrefix) {
					t.Errorf("status %d, causes %q, want %q", status.Code, got, v.causes)
				}
				if strings.Contains(fmt.Sprint(status), "hunter2") {
					t.Errorf("a value is in %v", status)
				}
			})
		}
	}
	for _, spdy := range []bool{false, true} {
		t.Run(fmt.Sprintf("EXA-32 a real session is refused, by SPDY: %t", spdy), func(t *testing.T) {
			if out, err := c.exec(t, c.admin(), session{query: "env=A%3D1;x", spdy: spdy}, "env"); err == nil {
				t.Errorf("the session ran without the entry: %q", out)
			}
		})
	}
	for _, v := range []struct{ what, subresource, query string }{
		{"an argument with a semicolon", "exec", "command=sh&command=-c&command=a;b"},
		{"an argument with a bad escape", "exec", "command=sh&command=%zz"},
		{"a container", "exec", "command=sh&container=%zz"},
		{"a key", "exec", "command=sh&%zz=1"},
		{"a container", "attach", "container=main;"},
		{"a port", "portforward", "ports=80;&ports=81"},
		{"a container", "log", "container=%4"},
	} {
		t.Run(fmt.Sprintf("EXA-32 what cannot be read is not left out of %s: %s", v.subresource, v.what), func(t *testing.T) {
			status := c.answer(t, http.MethodGet, podPath+v.subresource, v.query)
			if status.Code != http.StatusBadRequest || !strings.Contains(status.Message, "cannot be read") || strings.Contains(status.Message, "%zz") {
				t.Errorf("status = %d %s, want 400", status.Code, status.Message)
			}
		})
	}
	t.Run("EXA-13 EXA-32 none of it was counted or reached the kubelet", func(t *testing.T) {
		if got := c.counter(t)["injected"]; got != "0" || c.kubelet.count() != before {
			t.Errorf("%s counted, the kubelet was asked %d times", got, c.kubelet.count()-before)
		}
	})
}

func TestUnreadableQueryGateOff(t *testing.T) {
	c := start(t, withGates(t, ""))
	t.Run("EXA-29 with the gate off an env parameter is dropped, whatever it holds", func(t *testing.T) {
		for _, query := range []string{"env=%zz", "env=A%3D1;x", "%65nv=;"} {
			must(c.exec(t, c.admin(), session{query: query}, "env"))(t)
			if location, _ := c.kubelet.last(t); location.RawQuery != "command=env&output=1" {
				t.Errorf("query = %s", location.RawQuery)
			}
		}
	})
}

func TestUnreadableProxiedQuery(t *testing.T) {
	c := start(t, nil)
	for _, method := range []string{http.MethodGet, http.MethodPost} {
		for _, query := range []string{"env=A%3D1;x", "env=A%3D1%zz", "x=1;env=A%3D1", "env=A%3D1&env=KUBERNETES_EXEC_AUDIT_ID%3Dx;y"} {
			t.Run("EXA-32 EXA-25 refused through nodes/proxy by "+method+": "+query, func(t *testing.T) {
				before := c.kubelet.count()
				status := c.answer(t, method, "/api/v1/nodes/n1/proxy/exec/default/one/main", "command=env&output=1&"+query)
				if status.Code != http.StatusUnprocessableEntity || c.kubelet.count() != before {
					t.Errorf("status %d, the kubelet was asked %d times", status.Code, c.kubelet.count()-before)
				}
			})
		}
	}
}
