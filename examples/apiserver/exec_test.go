package apiserver_test

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/lanyard-dev/lanyard/examples/apiserver"
	"github.com/lanyard-dev/lanyard/examples/gates"
	"github.com/lanyard-dev/lanyard/execaudit"
)

// TestKubeletURL is the KEP's integration list: what the API server sends to the kubelet, with the gates on and off.
func TestKubeletURL(t *testing.T) {
	both := start(t, nil)
	t.Run("EXA-10 EXA-14 EXA-32 caller's entries, then the audit ID, other parameters in place", func(t *testing.T) {
		out := must(both.exec(t, both.admin(), session{query: "env=A%3Dx+y%26z%3D1%2B2%25&env=B%3D"}, "env"))(t)
		location, user := both.kubelet.last(t)
		id := both.lastExec(t).AuditID
		want := "command=env&output=1&env=A%3Dx+y%26z%3D1%2B2%25&env=B%3D&env=KUBERNETES_EXEC_AUDIT_ID%3D" + string(id)
		if location.Path != "/exec/default/one/main" || location.RawQuery != want {
			t.Errorf("kubelet was asked %s, want query %s", location, want)
		}
		if user != "kube-apiserver" {
			t.Errorf("kubelet saw user %q", user)
		}
		contains(t, "environment", out, "A=x y&z=1+2%\nB=\nKUBERNETES_EXEC_AUDIT_ID="+string(id))
	})
	t.Run("EXA-15 EXA-10 without any Env the audit ID arrives all the same", func(t *testing.T) {
		for _, spdy := range []bool{false, true} {
			must(both.exec(t, both.admin(), session{spdy: spdy}, "env"))(t)
			location, _ := both.kubelet.last(t)
			want := []string{execaudit.AuditIDName + "=" + string(both.lastExec(t).AuditID)}
			if got := location.Query()["env"]; !slices.Equal(got, want) {
				t.Errorf("spdy=%v: env = %q, want %q", spdy, got, want)
			}
		}
	})
	t.Run("EXA-27 nothing of the caller but the audit ID travels", func(t *testing.T) {
		config := both.admin()
		config.Impersonate.UserName = "system:serviceaccount:default:x"
		config.Impersonate.Groups = []string{"system:masters"}
		must(both.exec(t, config, session{}, "env"))(t)
		both.kubelet.mu.Lock()
		defer both.kubelet.mu.Unlock()
		sent := fmt.Sprint(both.kubelet.requests[len(both.kubelet.requests)-1], both.kubelet.headers[len(both.kubelet.headers)-1])
		for _, secret := range []string{"admin", "Impersonate", "Authorization", "system:"} {
			if strings.Contains(sent, secret) {
				t.Errorf("the kubelet was sent %q in %s", secret, sent)
			}
		}
	})
	t.Run("EXA-10 EXA-11 without an audit policy the request still has an ID, and no placeholder", func(t *testing.T) {
		c := start(t, func(o *apiserver.Options) { o.Audit = nil })
		out := must(c.exec(t, c.admin(), session{}, "env"))(t)
		if _, id, _ := strings.Cut(strings.TrimSpace(out), "="); uuid.Validate(id) != nil {
			t.Errorf("environment = %q, want a UUID", out)
		}
	})
	t.Run("EXA-7 EXA-25 the option reserves the whole prefix", func(t *testing.T) {
		c := start(t, func(o *apiserver.Options) { o.Reserved = execaudit.ReservedPrefix })
		status := c.refusal(t, session{query: "env=KUBERNETES_SERVICE_HOST%3Dx"}, "env").ErrStatus
		if status.Code != http.StatusUnprocessableEntity || status.Details.Causes[0].Field != "env[0].name" {
			t.Errorf("status = %+v", status)
		}
	})
	t.Run("EXA-12 ExecRequestID off appends nothing, Env still arrives", func(t *testing.T) {
		c := start(t, withGates(t, "ExecEnvVar=true"))
		must(c.exec(t, c.admin(), session{query: "env=A%3D1"}, "env"))(t)
		location, _ := c.kubelet.last(t)
		if want := "command=env&output=1&env=A%3D1"; location.RawQuery != want {
			t.Errorf("query = %s, want %s", location.RawQuery, want)
		}
		if got := c.counter(t); got["skipped"] != "1" || got["injected"] != "0" {
			t.Errorf("EXA-13 counter = %v", got)
		}
	})
	t.Run("EXA-29 both gates off drop Env without validating it", func(t *testing.T) {
		c := start(t, withGates(t, ""))
		must(c.exec(t, c.admin(), session{query: "env=%20&env=KUBERNETES_EXEC_AUDIT_ID%3Dx"}, "env"))(t)
		location, _ := c.kubelet.last(t)
		if want := "command=env&output=1"; location.RawQuery != want {
			t.Errorf("query = %s, want %s", location.RawQuery, want)
		}
	})
}

func withGates(t testing.TB, set string) func(*apiserver.Options) {
	return func(o *apiserver.Options) { o.Gates = gateSet(t, gates.MaxMinor, set) }
}

func TestGates(t *testing.T) {
	t.Run("EXA-1 STK-8 ExecRequestID alone is an error at start", func(t *testing.T) {
		c := &cluster{}
		c.prepare(t)
		c.options.Gates = gateSet(t, gates.MaxMinor, "ExecRequestID=true")
		if _, err := apiserver.New(c.options); err == nil || !strings.Contains(err.Error(), "ExecEnvVar=true") {
			t.Errorf("New = %v, want an error that says what to set", err)
		}
	})
	t.Run("STK-8 KAZ-14 metrics show each gate", func(t *testing.T) {
		c := start(t, withGates(t, "ExecEnvVar=true"))
		text := c.kubectl(t, "admin-token").ok(t, "get", "--raw", "/metrics")
		contains(t, "/metrics", text, `kubernetes_feature_enabled{name="ExecEnvVar",stage="ALPHA"} 1`,
			`kubernetes_feature_enabled{name="ExecRequestID",stage="ALPHA"} 0`,
			`kubernetes_feature_enabled{name="KubeletFineGrainedAuthz",stage=""} 1`)
	})
}

func TestValidation(t *testing.T) {
	c := start(t, nil)
	before := c.kubelet.count()
	for _, v := range []struct {
		name, query string
		causes      []string // field and a part of the message
	}{
		{"EXA-25 EXA-7 a reserved name", "env=KUBERNETES_EXEC_AUDIT_ID%3Dfake", []string{"env[0].name: reserved by the API server"}},
		{"EXA-9 all faults at once", "env=A%3D1&env=A%3D2&env=1B%3D&env=KUBERNETES_EXEC_AUDIT_ID%3D", []string{
			"env[1].name: Duplicate", "env[2].name: a valid environment variable name", "env[3].name: reserved",
		}},
		{"EXA-2 an empty name", "env=%3Dx", []string{"env[0].name: Required"}},
		{"EXA-32 an entry that is no assignment", "env=A", []string{"env[0]: "}},
		{"EXA-5 too many", manyEnv(execaudit.MaxEnvEntries + 1), []string{"env: must have at most 256 items"}},
		{"EXA-6 too long", "env=A%3D" + strings.Repeat("x", execaudit.MaxEnvBytes), []string{"env: may not be more than 32768 bytes"}},
	} {
		t.Run(v.name, func(t *testing.T) {
			status := c.refusal(t, session{query: v.query}, "env").ErrStatus
			if status.Code != http.StatusUnprocessableEntity || status.Reason != metav1.StatusReasonInvalid || status.Details.Kind != "PodExecOptions" {
				t.Fatalf("status = %+v", status)
			}
			if len(status.Details.Causes) != len(v.causes) {
				t.Fatalf("causes = %v, want %d", status.Details.Causes, len(v.causes))
			}
			for i, want := range v.causes {
				field, part, _ := strings.Cut(want, ": ")
				got := status.Details.Causes[i]
				if got.Field != field || !strings.Contains(got.Message, part) {
					t.Errorf("cause %d = %+v, want %s", i, got, want)
				}
			}
		})
	}
	t.Run("EXA-13 what validation refuses is not counted and reaches no kubelet", func(t *testing.T) {
		want := map[string]string{"injected": "0", "placeholder": "0", "skipped": "0"}
		if got := c.counter(t); !maps.Equal(got, want) {
			t.Errorf("counter = %v, want %v", got, want)
		}
		if after := c.kubelet.count(); after != before {
			t.Errorf("the kubelet was asked %d times", after-before)
		}
	})
	t.Run("EXA-25 kubectl shows the refusal and its exit code", func(t *testing.T) {
		o := c.kubectl(t, "admin-token").run(t, "", "exec-env", "--env", "KUBERNETES_EXEC_AUDIT_ID=fake", "--env", "1A=x", "one", "--", "env")
		if o.code != 1 || o.stdout != "" {
			t.Errorf("exit %d, printed %q", o.code, o.stdout)
		}
		contains(t, "error", o.stderr, "env[0].name", "KUBERNETES_EXEC_AUDIT_ID is reserved by the API server", "env[1].name")
		if strings.Contains(o.stderr, "fake") {
			t.Errorf("a value is in the error: %s", o.stderr)
		}
	})
}

func TestCounter(t *testing.T) {
	t.Run("EXA-13 every exec that reaches a kubelet's URL counts once", func(t *testing.T) {
		c := start(t, nil)
		must(c.exec(t, c.admin(), session{}, "env"))(t)
		must(c.exec(t, c.admin(), session{spdy: true}, "env"))(t)
		if got := c.counter(t)["injected"]; got != "2" {
			t.Errorf("injected = %s, want 2", got)
		}
		if _, err := c.exec(t, c.admin(), session{pod: "nosuch"}, "env"); err == nil {
			t.Error("an exec into no pod succeeded")
		}
		if got := c.counter(t)["injected"]; got != "2" {
			t.Errorf("injected after an exec into no pod = %s, want 2", got)
		}
	})
}

func manyEnv(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "&env=N%d%%3D", i)
	}
	return b.String()[1:]
}

// asMinor plays an older Kubernetes, with the gates that it had at their defaults.
func asMinor(t testing.TB, minor int) func(*apiserver.Options) {
	return func(o *apiserver.Options) { o.Minor, o.Gates = minor, gateSet(t, minor, "") }
}
