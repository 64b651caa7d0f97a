package apiserver_test

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/client-go/rest"

	"github.com/lanyard-dev/lanyard/envprecedence"
	"github.com/lanyard-dev/lanyard/examples/apiserver"
	"github.com/lanyard-dev/lanyard/examples/apiserver/kinds"
	"github.com/lanyard-dev/lanyard/execaudit"
)

// adding is a mutating plugin that adds entries to every exec, and remembers what it saw.
type adding struct {
	envs []envprecedence.Entry
	seen []envprecedence.Entry
}

func (a *adding) Handles(o admission.Operation) bool { return o == admission.Connect }

func (a *adding) Admit(_ context.Context, attributes admission.Attributes, _ admission.ObjectInterfaces) error {
	if options, ok := attributes.GetObject().(*kinds.PodExecOptions); ok {
		a.seen = slices.Clone(options.Env)
		options.Env = append(options.Env, a.envs...)
	}
	return nil
}

// refusing is a validating plugin that allows no variable of a name.
type refusing struct {
	name string
}

func (r refusing) Handles(o admission.Operation) bool { return o == admission.Connect }

func (r refusing) Validate(_ context.Context, attributes admission.Attributes, _ admission.ObjectInterfaces) error {
	options, ok := attributes.GetObject().(*kinds.PodExecOptions)
	if ok && slices.ContainsFunc(options.Env, func(e envprecedence.Entry) bool { return e.Name == r.name }) {
		return admission.NewForbidden(attributes, fmt.Errorf("%s is not allowed here", r.name))
	}
	return nil
}

func TestExecAdmission(t *testing.T) {
	plugin := &adding{}
	c := start(t, func(o *apiserver.Options) { o.Admission = []admission.Interface{plugin, refusing{"LD_PRELOAD"}} })
	t.Run("EXA-32 admission sees Env as a list of names and values", func(t *testing.T) {
		must(c.exec(t, c.admin(), session{query: "env=A%3D1%3D2&env=B%3D"}, "env"))(t)
		want := []envprecedence.Entry{envprecedence.NewEntry("A", "1=2"), envprecedence.NewEntry("B", "")}
		if !slices.EqualFunc(plugin.seen, want, envprecedence.Entry.Equal) {
			t.Errorf("admission saw %d entries, want A and B", len(plugin.seen))
		}
	})
	t.Run("EXA-14 what a mutating step adds reaches the kubelet", func(t *testing.T) {
		plugin.envs = []envprecedence.Entry{envprecedence.NewEntry("ADDED", "x")}
		contains(t, "environment", must(c.exec(t, c.admin(), session{}, "env"))(t), "ADDED=x\n")
	})
	t.Run("EXA-14 a validating step sees what a mutating one added", func(t *testing.T) {
		plugin.envs = []envprecedence.Entry{envprecedence.NewEntry("LD_PRELOAD", "x")}
		if status := c.refusal(t, session{}, "env"); !apierrors.IsForbidden(status) {
			t.Errorf("status = %v, want Forbidden", status)
		}
	})
	t.Run("EXA-25 EXA-14 a reserved name that a mutating step adds is refused", func(t *testing.T) {
		plugin.envs = []envprecedence.Entry{envprecedence.NewEntry(execaudit.AuditIDName, "forged")}
		before := c.kubelet.count()
		status := c.refusal(t, session{}, "env")
		if !apierrors.IsInvalid(status) || status.ErrStatus.Details.Causes[0].Field != "env[0].name" {
			t.Errorf("status = %+v", status.ErrStatus)
		}
		if c.kubelet.count() != before {
			t.Error("the kubelet was asked")
		}
	})
}

func TestNodeProxy(t *testing.T) {
	c := start(t, nil)
	client := must(rest.HTTPClientFor(c.admin()))(t)
	get := func(path string) int {
		response := must(client.Get(c.URL() + "/api/v1/nodes/n1/proxy" + path))(t)
		defer response.Body.Close()
		return response.StatusCode
	}
	t.Run("STK-5 a proxied path reaches the kubelet", func(t *testing.T) {
		if code := get("/healthz?verbose=1"); code != http.StatusOK {
			t.Errorf("status %d", code)
		}
		if location, _ := c.kubelet.last(t); location.String() != "/healthz?verbose=1" {
			t.Errorf("kubelet was asked %s", location)
		}
	})
	for _, path := range []string{
		"/exec/default/one/main?command=env&output=1&env=KUBERNETES_EXEC_AUDIT_ID%3Dfake",
		"/exec/default/one/main?command=env&output=1&env=A%3D1&%65nv=KUBERNETES_EXEC_AUDIT_ID%3Dfake",
		"/exec/default/one/uid/main?env=kubernetes_exec_audit_id%3Dfake",
		"/./exec/default/one/main?env=KUBERNETES_EXEC_AUDIT_ID%3Dfake",
	} {
		t.Run("EXA-25 a reserved name through nodes/proxy is refused "+path, func(t *testing.T) {
			before := c.kubelet.count()
			if code := get(path); code != http.StatusUnprocessableEntity {
				t.Errorf("status %d, want 422", code)
			}
			if c.kubelet.count() != before {
				t.Error("the kubelet was asked")
			}
		})
	}
	t.Run("EXA-25 other names pass, for nodes/proxy is a right of its own", func(t *testing.T) {
		before := c.kubelet.count()
		get("/exec/default/one/main?command=env&output=1&env=A%3D1")
		location, _ := c.kubelet.last(t)
		if c.kubelet.count() != before+1 || !strings.HasPrefix(location.RawQuery, "command=env&output=1&env=A%3D1&env=KUBERNETES_EXEC_AUDIT_ID%3D") {
			t.Errorf("kubelet was asked %s", location)
		}
	})
}
