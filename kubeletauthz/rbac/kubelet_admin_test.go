package rbac_test

import (
	"testing"

	"github.com/lanyard-dev/lanyard/kubeletauthz/rbac"
)

func TestKubeletAPIAdmin(t *testing.T) {
	for _, c := range []struct {
		verb, subresource string
		off, on           bool
	}{
		{"get", "", true, true},
		{"list", "", true, true},
		{"watch", "", true, true},
		{"proxy", "", true, true},
		{"delete", "", false, false},
		{"get", "proxy", true, true},
		{"create", "proxy", true, true},
		{"", "metrics", true, true},
		{"get", "stats", true, true},
		{"get", "log", true, true},
		{"get", "pods", false, true},
		{"get", "healthz", false, true},
		{"get", "configz", false, true},
		{"create", "checkpoint", false, false},
		{"get", "statusz", false, false},
		{"update", "status", false, false},
	} {
		ask := rbac.Request{Verb: c.verb, Resource: "nodes", Subresource: c.subresource}
		t.Run("KAZ-9 "+c.verb+" nodes/"+c.subresource, func(t *testing.T) {
			if got := firstAllowing(t, rbac.KubeletAPIAdmin(false).Rules, ask) >= 0; got != c.off {
				t.Errorf("gate off: allowed = %v, want %v", got, c.off)
			}
			if got := firstAllowing(t, rbac.KubeletAPIAdmin(true).Rules, ask) >= 0; got != c.on {
				t.Errorf("gate on: allowed = %v, want %v", got, c.on)
			}
		})
	}
	t.Run("KAZ-9 is updated by the API server at start", func(t *testing.T) {
		role := rbac.KubeletAPIAdmin(true)
		if role.Name != "system:kubelet-api-admin" || role.Annotations["rbac.authorization.kubernetes.io/autoupdate"] != "true" {
			t.Errorf("role = %+v, want the bootstrap name and annotation", role.ObjectMeta)
		}
	})
}
