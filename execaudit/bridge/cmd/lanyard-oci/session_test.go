//go:build linux

package main_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/lanyard-dev/lanyard/execaudit/bridge"
	"github.com/lanyard-dev/lanyard/execaudit/bridge/oci"
	"github.com/lanyard-dev/lanyard/execaudit/bridge/spool"
	"github.com/lanyard-dev/lanyard/execaudit/bridge/token"
)

func TestSession(t *testing.T) {
	for _, r := range runtimes(t) {
		t.Run(r.name, func(t *testing.T) {
			n := newNode(t, r)
			command := []string{"/probe", "report", "fork", "report", "setsid", "report", "orphan", "report"}
			text, signed := n.sign(command, false, nil)
			o := n.wrapped(attempt{args: append([]string{text}, command...), env: []string{"LANYARD_EXEC_SESSION=planted", "B=2"}})
			records := n.records()
			if o.code != 0 || len(records) != 1 {
				t.Fatalf("%+v, records %+v", o, records)
			}
			record := records[0]
			t.Run("BRG-1 the process has the session's ID once, and the command without the token", func(t *testing.T) {
				first := reports(t, o.out)[0]
				if !reflect.DeepEqual(first.Args, command) {
					t.Errorf("arguments %q, want %q", first.Args, command)
				}
				want := []string{"A=<1>", "B=2", "LANYARD_EXEC_SESSION=" + signed.Session.String()}
				got := slices.DeleteFunc(first.Env, func(entry string) bool { return strings.HasPrefix(entry, "HOME=") }) // the runtime's
				if slices.Sort(got); !reflect.DeepEqual(got, want) {
					t.Errorf("environment %q, want %q", got, want)
				}
			})
			t.Run("BRG-3 child, session leader and orphan have the mark that the record tells", func(t *testing.T) {
				all := reports(t, o.out)
				for _, r := range all {
					if r.LoginUID != fmt.Sprint(record.LoginUID) || r.SessionID != fmt.Sprint(record.SessionID) {
						t.Errorf("login UID %s, session ID %s, want %d, %d", r.LoginUID, r.SessionID, record.LoginUID, record.SessionID)
					}
				}
				if len(all) != 4 || record.LoginUID != signed.Session.LoginUID() || record.SessionID == 0 || record.Mark != spool.MarkSet {
					t.Errorf("%d reports, record %+v", len(all), record)
				}
			})
			t.Run("BRG-2 the record tells the session", func(t *testing.T) {
				boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
				must(t, err)
				want := record
				want.Session, want.Nonce, want.Expiry, want.Requester, want.Key = signed.Session, signed.Nonce, signed.Expiry, signed.Requester, n.key.Public().ID().String()
				want.Where = spool.Where{
					Node: "n1", PodUID: "u1", Namespace: "default", Pod: "web", Container: "app", ContainerID: n.id,
					ExecID: strings.TrimSuffix(filepath.Base(o.pidFile), ".pid"), PIDFile: o.pidFile,
				}
				want.Argv, want.BootID = command, strings.TrimSpace(string(boot))
				if !reflect.DeepEqual(record, want) || record.Time.IsZero() {
					t.Errorf("record\n%+v, want\n%+v", record, want)
				}
			})
			t.Run("BRG-2 the process file was replaced in place, with its mode, and nothing lies beside it", func(t *testing.T) {
				info, err := os.Stat(o.file)
				must(t, err)
				left, err := os.ReadFile(o.file)
				must(t, err)
				if info.Mode() != 0o600 || token.Like(string(left)) || !strings.Contains(string(left), `"A=\u003c1\u003e"`) {
					t.Errorf("mode %v: %s", info.Mode(), left)
				}
				if beside, _ := filepath.Glob(o.file + "?*"); len(beside) > 0 {
					t.Errorf("left: %q", beside)
				}
			})
			t.Run("BRG-3 nobody inside can change the mark", func(t *testing.T) {
				command := []string{"/probe", "login=4294967295", "login=2013265999", "uid=65534", "login=0", "report"}
				text, _ := n.sign(command, false, nil)
				o := n.wrapped(attempt{args: append([]string{text}, command...)})
				all := reports(t, o.out)
				if len(all) != 4 {
					t.Fatalf("%+v", o)
				}
				for _, r := range all[:3] {
					if !strings.Contains(r.Login, "operation not permitted") {
						t.Errorf("writing a login UID: %q", r.Login)
					}
				}
				if records := n.records(); all[3].SessionID != fmt.Sprint(records[len(records)-1].SessionID) {
					t.Errorf("session ID %s, records %+v", all[3].SessionID, records)
				}
			})
			t.Run("BRG-3 an unmarked process that takes a live session's login UID is told by its session ID", func(t *testing.T) {
				o := n.wrapped(attempt{args: []string{"/probe", "uid=65534", fmt.Sprintf("login=%d", record.LoginUID), "report"}})
				all := reports(t, o.out)
				if len(all) != 2 || all[0].Login != "<nil>" || all[1].LoginUID != fmt.Sprint(record.LoginUID) {
					t.Fatalf("%+v", o)
				}
				for _, record := range n.records() {
					if all[1].SessionID == fmt.Sprint(record.SessionID) {
						t.Errorf("session ID %s is that of the record %+v", all[1].SessionID, record)
					}
				}
			})
			t.Run("BRG-14 a session whose token opts out has variable and record, and no mark", func(t *testing.T) {
				command := []string{"/probe", "report"}
				text, signed := n.sign(command, false, func(t *token.Token) { t.Unmarked = true })
				o := n.wrapped(attempt{args: append([]string{text}, command...)})
				r := n.recordOf(signed)
				got := reports(t, o.out)[0]
				if got.LoginUID != "4294967295" || !slices.Contains(got.Env, "LANYARD_EXEC_SESSION="+signed.Session.String()) || r.Mark != "off" || r.SessionID != 0 || r.LoginUID != 0 {
					t.Errorf("%+v, record %+v", got, r)
				}
			})
			t.Run("BRG-10 a process with the runtime's audit ID gets no variable, and mark and record", func(t *testing.T) {
				command := []string{"/probe", "report"}
				text, signed := n.sign(command, false, nil)
				o := n.wrapped(attempt{args: append([]string{text}, command...), env: []string{"KUBERNETES_EXEC_AUDIT_ID=audit-7"}})
				r := n.recordOf(signed)
				got := reports(t, o.out)[0]
				if strings.Contains(fmt.Sprint(got.Env), "LANYARD") || r.AuditID != "audit-7" || got.SessionID != fmt.Sprint(r.SessionID) {
					t.Errorf("%+v, record %+v", got, r)
				}
			})
			t.Run("BRG-6 a command of 200 elements, NUL apart with every byte", func(t *testing.T) {
				command := []string{"/probe", "report"}
				for i := range 198 {
					command = append(command, fmt.Sprintf("%d \"\\<>&é\u2028\t%s", i, string(rune(i+1))))
				}
				text, _ := n.sign(command, false, nil)
				o := n.wrapped(attempt{args: append([]string{text}, command...)})
				if all := reports(t, o.out); len(all) != 1 || !reflect.DeepEqual(all[0].Args, command) {
					t.Errorf("%+v", o)
				}
			})
			t.Run("BRG-1 the exit code is the command's", func(t *testing.T) {
				command := []string{"/probe", "exit=42"}
				text, _ := n.sign(command, false, nil)
				if o := n.wrapped(attempt{args: append([]string{text}, command...)}); o.code != 42 {
					t.Errorf("%+v", o)
				}
			})
			t.Run("BRG-1 detached, as containerd does it", func(t *testing.T) {
				command := []string{"/probe", "report"}
				text, signed := n.sign(command, false, nil)
				o := n.wrapped(attempt{args: append([]string{text}, command...), options: []string{"--detach"}})
				if all := reports(t, o.out); len(all) != 1 || all[0].SessionID != fmt.Sprint(n.recordOf(signed).SessionID) {
					t.Errorf("%+v", o)
				}
			})
			t.Run("BRG-14 the configuration turns marks off for all or for namespaces", func(t *testing.T) {
				before := n.config
				for _, change := range []func(*oci.Config){
					func(c *oci.Config) { c.Mark = oci.MarkOff },
					func(c *oci.Config) { c.UnmarkedNamespaces = []string{"kube-system", "default"} },
				} {
					n.configure(change)
					command := []string{"/probe", "report"}
					text, signed := n.sign(command, false, nil)
					o := n.wrapped(attempt{args: append([]string{text}, command...)})
					if all := reports(t, o.out); len(all) != 1 || all[0].LoginUID != "4294967295" || n.recordOf(signed).Mark != "off" {
						t.Errorf("%+v", o)
					}
					n.configure(func(c *oci.Config) { *c = before })
				}
			})
			t.Run("BRG-14 workloads are marked where the configuration says so, with one login UID that is no session's", func(t *testing.T) {
				before := n.config
				n.configure(func(c *oci.Config) { c.Mark = oci.MarkWorkloads })
				o := n.wrapped(attempt{args: []string{"/probe", "report", "uid=65534", "login=2013265999"}})
				all := reports(t, o.out)
				if len(all) != 2 || all[0].LoginUID != fmt.Sprint(bridge.WorkloadLoginUID) || !strings.Contains(all[1].Login, "not permitted") {
					t.Errorf("%+v", o)
				}
				n.configure(func(c *oci.Config) { c.UnmarkedNamespaces = []string{"default"} })
				o = n.wrapped(attempt{args: []string{"/probe", "report"}})
				if all := reports(t, o.out); len(all) != 1 || all[0].LoginUID != "4294967295" {
					t.Errorf("%+v", o)
				}
				n.configure(func(c *oci.Config) { *c = before })
			})
		})
	}
}

// recordOf returns the record of a token.
func (n *node) recordOf(t token.Token) spool.Record {
	n.t.Helper()
	for _, r := range n.records() {
		if r.Nonce == t.Nonce {
			return r
		}
	}
	n.t.Fatalf("no record of %s", t.Session)
	return spool.Record{}
}

func TestWorkloads(t *testing.T) {
	for _, r := range runtimes(t) {
		t.Run(r.name, func(t *testing.T) {
			login := func(t *testing.T, n *node) string {
				t.Helper()
				var state struct{ Pid int }
				got := n.call(r.path, "--root", n.path("root"), "state", n.id)
				must(t, json.Unmarshal([]byte(got.out), &state))
				login, err := os.ReadFile(fmt.Sprintf("/proc/%d/loginuid", state.Pid))
				must(t, err)
				return string(login)
			}
			all := func(n *node, _ map[string]any) { n.config.Mark = oci.MarkWorkloads }
			t.Run("BRG-14 a container's first process is marked where all are", func(t *testing.T) {
				if got, want := login(t, newNode(t, r, all)), fmt.Sprint(bridge.WorkloadLoginUID); got != want {
					t.Errorf("login UID %s, want %s", got, want)
				}
			})
			t.Run("BRG-14 not that of a pod that opted out, nor anybody's by default", func(t *testing.T) {
				out := newNode(t, r, all, func(_ *node, spec map[string]any) {
					spec["annotations"].(map[string]string)[bridge.MarkAnnotation] = bridge.MarkOff
				})
				for _, n := range []*node{out, newNode(t, r)} {
					if got := login(t, n); got != "4294967295" {
						t.Errorf("login UID %s", got)
					}
				}
			})
		})
	}
}
