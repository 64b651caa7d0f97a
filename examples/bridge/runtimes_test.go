package bridge_test

import (
	"crypto/rand"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
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

// engine is a containerd with the wrapper in the place of its runc, and nothing of Kubernetes.
type engine struct {
	*runtimetest.Node
	key   token.Key
	spool string
}

const engineNode = "engine"

func startEngine(t *testing.T, config containerdrig.Config, change ...func(*oci.Config)) *engine {
	t.Helper()
	e := &engine{key: token.NewKey(), spool: filepath.Join(config.Dir, "spool")}
	wrapper := filepath.Join(config.Dir, "a path", "lanyard-oci") // with a space, as an installation may have
	settings := oci.Config{Runtime: config.Runc, Node: engineNode, Keys: filepath.Join(config.Dir, "keys"), Spool: e.spool}
	for _, f := range change {
		f(&settings)
	}
	for _, step := range []error{
		os.MkdirAll(filepath.Dir(wrapper), 0o755), os.Mkdir(e.spool, 0o700), copyFile(parts.Need(t, "lanyard-oci")[0], wrapper),
		os.WriteFile(oci.ConfigPaths(wrapper)[0], settings.Encode(), 0o644), os.WriteFile(settings.Keys, []byte(token.Keys{e.key.Public()}.Text()), 0o644),
	} {
		if step != nil {
			t.Fatal(step)
		}
	}
	config.Runc = wrapper
	rig, err := containerdrig.Start(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := rig.Stop(); err != nil {
			t.Error(err)
		}
	})
	pause, err := testimage.Pause()
	if err != nil {
		t.Fatal(err)
	}
	app, err := testimage.Build(testimage.Spec{Reporter: parts.Need(t, "lanyard-reporter")[0], Config: v1.Config{Entrypoint: []string{testimage.Program}}})
	if err != nil {
		t.Fatal(err)
	}
	for name, image := range map[string]v1.Image{containerdrig.PauseImage: pause, engineImage: app} {
		if err := rig.Import(t.Context(), name, image); err != nil {
			t.Fatal(err)
		}
	}
	e.Node = runtimetest.Dial(t, rig.Socket())
	return e
}

const engineImage = "localhost/lanyard/app:1"

// container runs a container as a kubelet would have it.
func (e *engine) container(t *testing.T) *runtimetest.Container {
	t.Helper()
	return e.RunPod(t).Start(t, engineImage, []string{testimage.Program, "pause"})
}

// token signs one for the container and the command.
func (e *engine) token(t *testing.T, c *runtimetest.Container, command ...string) (token.Token, string) {
	t.Helper()
	meta, now := c.Pod.Config.GetMetadata(), time.Now()
	tok := token.Token{
		Session: brg.NewSessionID(), Node: engineNode, Container: c.Config.GetMetadata().GetName(),
		Pod:       token.Pod{UID: meta.GetUid(), Namespace: meta.GetNamespace(), Name: meta.GetName()},
		NotBefore: now.Add(-time.Second), Expiry: now.Add(time.Minute), Command: token.Digest(command, false),
	}
	_, _ = rand.Read(tok.Nonce[:])
	return tok, sign(t, e.key, tok)
}

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

func released(t *testing.T, dir string) containerdrig.Config {
	t.Helper()
	parts.Need(t, "containerd", "runc")
	config, err := containerdrig.Find(dir)
	if err != nil {
		t.Skip(err)
	}
	return config
}

// shortDir makes a directory in which paths of sockets have room.
func shortDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "brg-")
	if err == nil {
		err = os.Chmod(dir, 0o755) // a user namespace's root goes through it
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	return dir
}

func copyFile(from, to string) error {
	source, err := os.Open(from)
	if err != nil {
		return err
	}
	defer source.Close()
	target, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o755)
	if err != nil {
		return err
	}
	_, err = io.Copy(target, source)
	if closed := target.Close(); err == nil {
		err = closed
	}
	return err
}
