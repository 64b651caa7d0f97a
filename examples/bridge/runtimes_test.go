package bridge_test

import (
	"strconv"
	"strings"
	"testing"

	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/lanyard-dev/lanyard/envprecedence"
	"github.com/lanyard-dev/lanyard/examples/bridge"
	"github.com/lanyard-dev/lanyard/examples/containerdrig"
	"github.com/lanyard-dev/lanyard/examples/parts"
	"github.com/lanyard-dev/lanyard/examples/runtime/runtimetest"
	"github.com/lanyard-dev/lanyard/examples/testimage"
	"github.com/lanyard-dev/lanyard/examples/testimage/report"
	"github.com/lanyard-dev/lanyard/execaudit"
	brg "github.com/lanyard-dev/lanyard/execaudit/bridge"
	"github.com/lanyard-dev/lanyard/execaudit/bridge/oci"
	"github.com/lanyard-dev/lanyard/execaudit/bridge/spool"
	"github.com/lanyard-dev/lanyard/execaudit/bridge/token"
)

// TestRuntimes has the wrapper under each containerd that there is, by direct calls of the CRI.
func TestRuntimes(t *testing.T) {
	for _, c := range []struct {
		name string
		find func(*testing.T, string) containerdrig.Config
	}{
		{"containerd 2.4.2", released},
		{"Debian's containerd 1.6", func(t *testing.T, dir string) containerdrig.Config {
			parts.Need(t, "debian/containerd", "debian/runc")
			config, err := containerdrig.FindDebian(dir)
			if err != nil {
				t.Skip(err)
			}
			return config
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			parts.Need(t, "lanyard-oci")
			e := startEngine(t, c.find(t, shortDir(t)))
			container := e.container(t)
			t.Run("BRG-2 BRG-3 a session with a token is marked", func(t *testing.T) {
				tok, text := e.token(t, container, testimage.Program)
				got := container.MustExec(t, &runtimetest.Session{Cmd: []string{text, testimage.Program}})
				if id := marked(t, parsed(t, got.Out.String())); id != tok.Session.String() {
					t.Errorf("session %s, want %s", id, tok.Session)
				}
			})
			t.Run("BRG-4 a token that is used is refused, and the error says so", func(t *testing.T) {
				_, text := e.token(t, container, testimage.Program)
				container.MustExec(t, &runtimetest.Session{Cmd: []string{text, testimage.Program}})
				err := container.Exec(runtimetest.Context(t), &runtimetest.Session{Cmd: []string{text, testimage.Program}})
				if err == nil || !strings.Contains(err.Error(), "used") || strings.Contains(err.Error(), token.Prefix) {
					t.Errorf("a replay: %v, want that it was used", err)
				}
			})
			t.Run("BRG-5 a session without a token is as before", func(t *testing.T) {
				plain(t, parsed(t, container.MustExec(t, &runtimetest.Session{Cmd: []string{testimage.Program}}).Out.String()))
			})
		})
	}
}

// TestMarkWorkloads has the wrapper mark also what no session starts.
func TestMarkWorkloads(t *testing.T) {
	parts.Need(t, "lanyard-oci")
	e := startEngine(t, released(t, shortDir(t)), func(c *oci.Config) { c.Mark = oci.MarkWorkloads })
	container := e.container(t)
	t.Run("BRG-14 mark workloads: an exec without a token is marked as the workload's, and cannot take a session's login UID", func(t *testing.T) {
		said := parsed(t, container.MustExec(t, &runtimetest.Session{Cmd: []string{testimage.Program}}).Out.String())
		if _, has := said.Get(brg.SessionName); has || said.AuditSession == report.NoSession || said.LoginUID != brg.WorkloadLoginUID {
			t.Errorf("login UID %d, audit session %d, environment %v", said.LoginUID, said.AuditSession, said.Env)
		}
		got := container.MustExec(t, &runtimetest.Session{Cmd: []string{testimage.Program, "loginuid", strconv.Itoa(brg.MinLoginUID)}})
		if got.Code == 0 || !strings.Contains(got.Err.String(), "operation not permitted") {
			t.Errorf("it took a login UID: code %d, %s%s", got.Code, got.Out.String(), got.Err.String())
		}
	})
	t.Run("BRG-14 mark workloads: the container's first process is marked", func(t *testing.T) {
		cri := bridge.CRI{RuntimeServiceClient: e.RuntimeServiceClient}
		pid, err := cri.PID(t.Context(), container.ID)
		if err != nil {
			t.Fatal(err)
		}
		found, err := bridge.Processes(func(p bridge.Process) bool { return p.PID == pid })
		if err != nil || len(found) != 1 || found[0].LoginUID != brg.WorkloadLoginUID {
			t.Errorf("%+v, %v, want login UID %d", found, err, brg.WorkloadLoginUID)
		}
	})
	t.Run("BRG-14 mark workloads: a session has its own mark", func(t *testing.T) {
		_, text := e.token(t, container, testimage.Program)
		marked(t, parsed(t, container.MustExec(t, &runtimetest.Session{Cmd: []string{text, testimage.Program}}).Out.String()))
	})
}

// TestUserNamespace has a session in a pod with a user namespace.
func TestUserNamespace(t *testing.T) {
	parts.Need(t, "lanyard-oci")
	e := startEngine(t, released(t, shortDir(t)))
	ids := []*runtimeapi.IDMapping{{HostId: 1_000_000, ContainerId: 0, Length: 65_536}}
	pod := e.RunPod(t, func(c *runtimeapi.PodSandboxConfig) {
		c.Linux.SecurityContext.NamespaceOptions.UsernsOptions = &runtimeapi.UserNamespace{Mode: runtimeapi.NamespaceMode_POD, Uids: ids, Gids: ids}
	})
	container := pod.Start(t, engineImage, []string{testimage.Program, "pause"})
	t.Run("BRG-3 a session in a user namespace is marked, and cannot change its mark", func(t *testing.T) {
		command := []string{testimage.Program, "descend", "child", "uid=0", "uid=1000"}
		tok, text := e.token(t, container, command...)
		got := container.MustExec(t, &runtimetest.Session{Cmd: append([]string{text}, command...)})
		if id, _ := parsed(t, got.Out.String()).Get(brg.SessionName); id != tok.Session.String() {
			t.Errorf("session %q, want %s", id, tok.Session)
		}
		if n := strings.Count(got.Err.String(), "operation not permitted"); n != 2 {
			t.Errorf("%d of 2 children were refused another login UID: %s", n, got.Err.String())
		}
		for record, err := range spool.Records(e.spool) {
			if err != nil || record.Mark != spool.MarkSet || record.LoginUID != tok.Session.LoginUID() {
				t.Errorf("record %+v, %v, want login UID %d", record, err, tok.Session.LoginUID())
			}
		}
	})
}

// TestIntegratedRuntime has the wrapper under containerd with KEP-6035.
func TestIntegratedRuntime(t *testing.T) {
	program := parts.Need(t, "containerd-envs", "lanyard-oci")[0]
	config := released(t, shortDir(t))
	config.Containerd = program
	e := startEngine(t, config)
	container := e.container(t)
	const audit = "11111111-2222-4333-8444-555555555555"
	t.Run("BRG-10 a process with a real audit ID gets no variable, and is marked and recorded", func(t *testing.T) {
		tok, text := e.token(t, container, testimage.Program)
		got := container.MustExec(t, &runtimetest.Session{
			Cmd: []string{text, testimage.Program}, Env: []envprecedence.Entry{envprecedence.NewEntry(execaudit.AuditIDName, audit)},
		})
		said := parsed(t, got.Out.String())
		if id, _ := said.Get(execaudit.AuditIDName); id != audit {
			t.Errorf("%s is %q, want %q", execaudit.AuditIDName, id, audit)
		}
		if id, has := said.Get(brg.SessionName); has {
			t.Errorf("%s is %q, want none", brg.SessionName, id)
		}
		if said.LoginUID != tok.Session.LoginUID() || said.AuditSession == report.NoSession {
			t.Errorf("login UID %d, audit session %d", said.LoginUID, said.AuditSession)
		}
		for record, err := range spool.Records(e.spool) {
			if err != nil || record.Session != tok.Session {
				continue
			}
			if record.AuditID != audit || record.SessionID != said.AuditSession {
				t.Errorf("record %+v, want audit ID %s, audit session %d", record, audit, said.AuditSession)
			}
			return
		}
		t.Error("there is no record")
	})
	t.Run("BRG-10 a process with a real audit ID and no token is as before", func(t *testing.T) {
		got := container.MustExec(t, &runtimetest.Session{
			Cmd: []string{testimage.Program}, Env: []envprecedence.Entry{envprecedence.NewEntry(execaudit.AuditIDName, audit)},
		})
		plain(t, parsed(t, got.Out.String()))
	})
}
