package apiserver_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/types"
	auditv1 "k8s.io/apiserver/pkg/apis/audit/v1"

	"github.com/lanyard-dev/lanyard/examples/apiserver"
	execapi "github.com/lanyard-dev/lanyard/execaudit/apiserver"
)

// events reads the audit log; every line must be an event.
func (c *cluster) events(t testing.TB) []auditv1.Event {
	t.Helper()
	text := must(os.ReadFile(c.audit))(t)
	text = text[:bytes.LastIndexByte(text, '\n')+1] // the API server may be in the middle of the next
	var events []auditv1.Event
	lines := bufio.NewScanner(bytes.NewReader(text))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		decoder := json.NewDecoder(bytes.NewReader(lines.Bytes()))
		decoder.DisallowUnknownFields()
		var e auditv1.Event
		if err := decoder.Decode(&e); err != nil || e.APIVersion != "audit.k8s.io/v1" || e.Kind != "Event" {
			t.Fatalf("line %s: %v", lines.Text(), err)
		}
		events = append(events, e)
	}
	return events
}

// execEvents returns the events of exec sessions, of one audit ID when it is not empty.
func (c *cluster) execEvents(t testing.TB, id types.UID) []auditv1.Event {
	t.Helper()
	return slices.DeleteFunc(c.events(t), func(e auditv1.Event) bool {
		return e.ObjectRef == nil || e.ObjectRef.Subresource != "exec" || id != "" && e.AuditID != id
	})
}

// lastExec returns the latest stage of the exec session that was asked for last: one before it may end after it.
func (c *cluster) lastExec(t testing.TB) auditv1.Event {
	t.Helper()
	var last auditv1.Event
	for _, e := range c.execEvents(t, "") {
		if e.Stage == auditv1.StageRequestReceived || e.AuditID == last.AuditID {
			last = e
		}
	}
	if last.AuditID == "" {
		t.Fatal("no exec is in the audit log")
	}
	return last
}

func TestAudit(t *testing.T) {
	c := start(t, nil)
	t.Run("STK-4 EXA-23 each exec yields its stages under one ID, with the user", func(t *testing.T) {
		config := c.admin()
		config.Impersonate.UserName = "carol"
		config.Impersonate.Groups = []string{"system:masters"}
		out := must(c.exec(t, config, session{}, "env"))(t)
		_, id, _ := strings.Cut(strings.TrimSpace(out), "=")
		var stages []auditv1.Stage
		eventually(t, "three stages", func() bool {
			stages = nil
			for _, e := range c.execEvents(t, types.UID(id)) {
				stages = append(stages, e.Stage)
			}
			return len(stages) >= 3
		})
		want := []auditv1.Stage{auditv1.StageRequestReceived, auditv1.StageResponseStarted, auditv1.StageResponseComplete}
		if !slices.Equal(stages, want) {
			t.Errorf("stages = %v, want %v", stages, want)
		}
		last := c.lastExec(t)
		if last.User.Username != "admin" || last.ImpersonatedUser == nil || last.ImpersonatedUser.Username != "carol" {
			t.Errorf("user = %+v, impersonated %+v", last.User, last.ImpersonatedUser)
		}
	})
	t.Run("STK-4 every line parses as audit.k8s.io/v1", func(t *testing.T) {
		if len(c.events(t)) == 0 {
			t.Error("the log is empty")
		}
	})
}

func TestClientAuditID(t *testing.T) {
	c := start(t, nil)
	ignoring := start(t, func(o *apiserver.Options) { o.ClientAuditIDs = execapi.ClientIDsIgnore })
	for _, v := range []struct {
		name, id string
		cluster  *cluster
		kept     bool
	}{
		{"EXA-26 a good one is kept", "my-request_1.2", c, true},
		{"EXA-26 one with a newline's escape is replaced", "evil%0Aid", c, false},
		{"EXA-26 one with spaces is replaced", "a b", c, false},
		{"EXA-26 one of 65 characters is replaced", strings.Repeat("a", 65), c, false},
		{"EXA-26 the option replaces even a good one", "my-request", ignoring, false},
	} {
		t.Run(v.name, func(t *testing.T) {
			out := must(v.cluster.exec(t, v.cluster.admin(), session{header: http.Header{"Audit-Id": {v.id}}}, "env"))(t)
			event := v.cluster.lastExec(t)
			contains(t, "environment", out, "KUBERNETES_EXEC_AUDIT_ID="+string(event.AuditID)+"\n")
			if kept := string(event.AuditID) == v.id; kept != v.kept {
				t.Errorf("audit ID = %q after %q was sent", event.AuditID, v.id)
			}
		})
	}
}

func TestAuditRotation(t *testing.T) {
	t.Run("STK-4 the log is rotated and every event is in one of the files", func(t *testing.T) {
		c := start(t, func(o *apiserver.Options) { o.Audit.LogOptions.MaxSize = 1 })
		client := c.client(t, c.admin()).CoreV1().RESTClient()
		padding := strings.Repeat("p", 8<<10)
		files := func() []string { return must(filepath.Glob(filepath.Join(filepath.Dir(c.audit), "audit*.log")))(t) }
		eventually(t, "a second file", func() bool {
			for range 20 {
				client.Get().AbsPath("/api/v1/nodes").Param("ignored", padding).Do(t.Context())
			}
			return len(files()) > 1
		})
		for _, c.audit = range files() {
			c.events(t)
		}
	})
}
