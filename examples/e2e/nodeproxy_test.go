package e2e_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"k8s.io/client-go/tools/remotecommand"

	"github.com/lanyard-dev/lanyard/examples/testimage"
	"github.com/lanyard-dev/lanyard/examples/testimage/report"
	"github.com/lanyard-dev/lanyard/execaudit"
)

// proxied runs the reporter in a pod through nodes/proxy: the kubelet's own exec endpoint, asked through the API
// server, by SPDY or over a WebSocket.
func (c *caller) proxied(t *testing.T, node, pod, query string, spdy bool) (report.Report, error) {
	t.Helper()
	location, err := url.Parse(c.config.Host + "/api/v1/nodes/" + node + "/proxy/exec/default/" + pod + "/app?output=1&error=1&command=" + testimage.Program + query)
	if err != nil {
		t.Fatal(err)
	}
	executor, err := remotecommand.NewWebSocketExecutorForProtocols(c.config, http.MethodGet, location.String(), "v4.channel.k8s.io")
	if spdy {
		executor, err = remotecommand.NewSPDYExecutor(c.config, http.MethodPost, location)
	}
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	var r report.Report
	if err := stream(t.Context(), executor, nil, &out); err != nil {
		return r, err
	}
	return r, json.Unmarshal(out.Bytes(), &r)
}

// TestNodeProxy runs sessions around pods/exec.
func TestNodeProxy(t *testing.T) {
	c := common(t)
	alice := newCaller(t, c.alice)
	for name, spdy := range map[string]bool{"a WebSocket": false, "SPDY": true} {
		t.Run("EXA-38 STK-7 the process has the audit ID of its own request through nodes/proxy, over "+name, func(t *testing.T) {
			before := counted(t, c, "injected")
			r, err := alice.proxied(t, ours, ours, "&env=LOG_LEVEL%3Ddebug", spdy)
			if err != nil {
				t.Fatal(err)
			}
			id := value(t, r, execaudit.AuditIDName)
			events := audited(t, c, id)
			if len(events) == 0 {
				t.Fatalf("the process has %s=%q, which no audit event has", execaudit.AuditIDName, id)
			}
			e := events[len(events)-1]
			if e.User.Username != "alice" || e.ObjectRef.Resource != "nodes" || e.ObjectRef.Name != ours || e.ObjectRef.Subresource != "proxy" || !strings.Contains(e.RequestURI, "/proxy/exec/default/"+ours+"/app?") {
				t.Errorf("audit event is of %s on %s, want alice's on nodes/%s/proxy", e.User.Username, e.RequestURI, ours)
			}
			if got := value(t, r, "LOG_LEVEL"); got != "debug" {
				t.Errorf("LOG_LEVEL = %q, want the caller's debug", got)
			}
			if counted(t, c, "injected") != before+1 {
				t.Error("EXA-13 the session did not count once")
			}
		})
	}
	t.Run("EXA-25 EXA-38 a forged ID is refused, and no session is opened", func(t *testing.T) {
		before := counted(t, c, "injected")
		_, err := alice.proxied(t, ours, ours, "&env="+execaudit.AuditIDName+"%3Dfake", true)
		if err == nil || counted(t, c, "injected") != before {
			t.Errorf("a session with a forged ID ended with %v", err)
		}
	})
}
