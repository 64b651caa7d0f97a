package apiserver_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"
	auditv1 "k8s.io/apiserver/pkg/apis/audit/v1"
	"k8s.io/client-go/rest"

	"github.com/lanyard-dev/lanyard/execaudit"
)

const (
	nodeProxy    = "/api/v1/nodes/n1/proxy"
	proxiedExec  = nodeProxy + "/exec/default/one/main"
	proxiedByUID = nodeProxy + "/exec/default/one/uid-1/main"
)

// lastProxied returns the latest audit event of nodes/proxy.
func (c *cluster) lastProxied(t testing.TB) auditv1.Event {
	t.Helper()
	for _, e := range slices.Backward(c.events(t)) {
		if e.ObjectRef != nil && e.ObjectRef.Resource == "nodes" && e.ObjectRef.Subresource == "proxy" {
			return e
		}
	}
	t.Fatal("no nodes/proxy is in the audit log")
	return auditv1.Event{}
}

// TestProxiedExec runs sessions through nodes/proxy, which the kubelet serves as it does those of pods/exec.
func TestProxiedExec(t *testing.T) {
	c := start(t, nil)
	for _, path := range []string{proxiedExec, proxiedByUID, proxiedExec + "/", nodeProxy + "//exec/default/one/main", nodeProxy + "/%65xec/default/one/main"} {
		for _, spdy := range []bool{false, true} {
			t.Run(fmt.Sprintf("EXA-38 the audit ID of its own request arrives last: %s, by SPDY: %t", path, spdy), func(t *testing.T) {
				before := c.counter(t)["injected"]
				out := must(c.exec(t, c.admin(), session{path: path, query: "&env=A%3D1+2&x=#", spdy: spdy}, "env"))(t)
				event := c.lastProxied(t)
				want := "A=1 2\n" + execaudit.AuditIDName + "=" + string(event.AuditID) + "\n"
				if out != want || event.User.Username != "admin" || uuid.Validate(string(event.AuditID)) != nil {
					t.Errorf("environment = %q, want %q of admin's event %v", out, want, event)
				}
				if after := c.counter(t)["injected"]; after == before {
					t.Errorf("EXA-13 injected = %s before and after", after)
				}
			})
		}
	}
	t.Run("EXA-38 EXA-26 EXA-23 two sessions have two IDs, neither the client's bad one", func(t *testing.T) {
		var seen []string
		for range 2 {
			s := session{path: proxiedExec, header: http.Header{execaudit.AuditIDHeader: {"not/harmless"}}}
			seen = append(seen, must(c.exec(t, c.admin(), s, "env"))(t))
		}
		if seen[0] == seen[1] || strings.Contains(seen[0], "harmless") {
			t.Errorf("environments = %q", seen)
		}
	})
	t.Run("EXA-38 what does not upgrade carries it too", func(t *testing.T) {
		client := must(rest.HTTPClientFor(c.admin()))(t)
		response := must(client.Get(c.URL() + proxiedExec + "?command=env&output=1"))(t)
		defer response.Body.Close()
		location, _ := c.kubelet.last(t)
		if want := "command=env&output=1&env=KUBERNETES_EXEC_AUDIT_ID%3D" + string(c.lastProxied(t).AuditID); location.RawQuery != want {
			t.Errorf("kubelet was asked %s, want %s", location, want)
		}
	})
	t.Run("EXA-38 EXA-35 refused as pods/exec refuses, and uncounted", func(t *testing.T) {
		asked, counted := c.kubelet.count(), c.counter(t)["injected"]
		status := c.answer(t, http.MethodPost, proxiedExec, "command=env&output=1&env=A&env=1B%3Dhunter2&env=KUBERNETES_EXEC_AUDIT_ID%3Dhunter2")
		want := []string{"env[0]: Invalid value: must be NAME=VALUE", `env[1].name: Invalid value: "1B"`, "env[2].name: Forbidden: KUBERNETES_EXEC_AUDIT_ID is reserved by the API server"}
		if status.Code != http.StatusUnprocessableEntity || status.Details.Kind != "PodExecOptions" || !slices.EqualFunc(causes(status), want, strings.HasPrefix) {
			t.Errorf("status %d, causes %q, want %q", status.Code, causes(status), want)
		}
		if strings.Contains(fmt.Sprint(status), "hunter2") || c.kubelet.count() != asked || c.counter(t)["injected"] != counted {
			t.Errorf("a value is in %v, or the kubelet was asked, or it was counted", status)
		}
	})
	t.Run("EXA-38 EXA-25 a body is refused, since a kubelet might read a form in it", func(t *testing.T) {
		asked := c.kubelet.count()
		client := must(rest.HTTPClientFor(c.admin()))(t)
		response := must(client.Post(c.URL()+proxiedExec+"?command=env&output=1", "application/x-www-form-urlencoded", strings.NewReader("env=KUBERNETES_EXEC_AUDIT_ID%3Dfake")))(t)
		defer response.Body.Close()
		if response.StatusCode != http.StatusBadRequest || c.kubelet.count() != asked {
			t.Errorf("status %d, the kubelet was asked %d times", response.StatusCode, c.kubelet.count()-asked)
		}
	})
}

func TestProxiedExecGates(t *testing.T) {
	for _, v := range []struct{ gates, env string }{{"ExecEnvVar=true", "A=1\n"}, {"", "A=1\n"}} {
		t.Run("EXA-12 EXA-29 nothing is added with the gates "+v.gates, func(t *testing.T) {
			c := start(t, withGates(t, v.gates))
			if out := must(c.exec(t, c.admin(), session{path: proxiedExec, query: "&env=A%3D1"}, "env"))(t); out != v.env {
				t.Errorf("environment = %q, want %q", out, v.env)
			}
			if got := c.counter(t); got["skipped"] != "1" || got["injected"] != "0" {
				t.Errorf("EXA-13 counter = %v", got)
			}
			status := c.answer(t, http.MethodGet, proxiedExec, "env=KUBERNETES_EXEC_AUDIT_ID%3Dx")
			if status.Code != http.StatusUnprocessableEntity || len(causes(status)) != 1 {
				t.Errorf("EXA-25 a forgery: %d, %q", status.Code, causes(status))
			}
		})
	}
}
