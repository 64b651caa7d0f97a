//go:build linux

package main_test

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lanyard-dev/lanyard/execaudit/bridge/oci"
	"github.com/lanyard-dev/lanyard/execaudit/bridge/token"
)

func TestManyAtOnce(t *testing.T) {
	for i, r := range runtimes(t) {
		t.Run(r.name, func(t *testing.T) {
			n := newNode(t, r)
			many := []int{200, 32, 32}[i]
			sessions := make([]token.Token, many)
			outcomes := make([]outcome, many)
			command := []string{"/probe", "report"}
			var running sync.WaitGroup
			slots := make(chan struct{}, 16)
			for i := range many {
				element, signed := n.sign(command, false, nil)
				sessions[i] = signed
				o, cmd := n.prepare(n.path("lanyard oci"), attempt{args: append([]string{element}, command...)})
				slots <- struct{}{}
				running.Go(func() {
					defer func() { <-slots }()
					out, err := cmd.Output()
					o.out = string(out)
					if outcomes[i] = o; err != nil {
						t.Error(err)
					}
				})
			}
			running.Wait()
			t.Run("BRG-6 each has its own record, session ID and variable", func(t *testing.T) {
				records := map[string]string{}
				for _, r := range n.records() {
					records[r.Session.String()] = fmt.Sprint(r.SessionID)
				}
				seen := map[string]bool{}
				for i, o := range outcomes {
					all := reports(t, o.out)
					if len(all) != 1 || seen[all[0].SessionID] || records[sessions[i].Session.String()] != all[0].SessionID ||
						!strings.Contains(fmt.Sprint(all[0].Env), sessions[i].Session.String()) {
						t.Errorf("session %s: %+v", sessions[i].Session, all)
						continue
					}
					seen[all[0].SessionID] = true
				}
				if len(records) != many {
					t.Errorf("%d records, want %d", len(records), many)
				}
			})
		})
	}
}

func TestReplacedInTheMiddle(t *testing.T) {
	n := newNode(t, runtimes(t)[0])
	n.write("other keys", token.Keys{n.key.Public(), token.NewKey().Public()}.Text())
	// Another process, since a fork of this one would hold the new program open for writing.
	loop := exec.Command("sh", "-c", `while :; do
		cp "$1" new && mv new "lanyard oci"
		cp keys new && cp "other keys" keys.next && mv keys.next keys && mv new "other keys"
		cp "lanyard oci.json" new && mv new "lanyard oci.json"
		echo replaced
	done`, "sh", built.wrapper)
	loop.Dir = n.dir
	said, err := loop.StdoutPipe()
	must(t, err)
	must(t, loop.Start())
	t.Cleanup(func() { _ = loop.Process.Kill(); _ = loop.Wait() })
	rounds := bufio.NewReader(said)
	t.Run("BRG-6 an exec in the middle of an upgrade or a rotation is one of the old or of the new", func(t *testing.T) {
		for range 60 {
			command := []string{"/probe", "report"}
			element, _ := n.sign(command, false, nil)
			if o := n.wrapped(attempt{args: append([]string{element}, command...)}); o.code != 0 || len(reports(t, o.out)) != 1 {
				t.Errorf("%+v", o)
			}
			if _, err := rounds.ReadString('\n'); err != nil {
				t.Fatal(err)
			}
		}
	})
}

func TestKilledInTheMiddle(t *testing.T) {
	n := newNode(t, runtimes(t)[0])
	n.configure(func(c *oci.Config) { c.Runtime = "/bin/true" })
	t.Run("BRG-6 a wrapper that is killed leaves the process file as it was or as it is to be", func(t *testing.T) {
		command := []string{"/probe", "report"}
		whole := 0
		for i := range 80 {
			element, signed := n.sign(command, false, nil)
			o, cmd := n.prepare(n.path("lanyard oci"), attempt{args: append([]string{element}, command...)})
			must(t, cmd.Start())
			killed := time.AfterFunc(time.Duration(i)*100*time.Microsecond, func() { _ = cmd.Process.Kill() })
			_ = cmd.Wait()
			killed.Stop()
			left, err := os.ReadFile(o.file)
			must(t, err)
			p, err := oci.ParseProcess(left)
			must(t, err)
			if string(left) == o.text {
				continue
			}
			if whole++; fmt.Sprint(p.Args) != fmt.Sprint(command) || !strings.Contains(fmt.Sprint(p.Env), signed.Session.String()) {
				t.Errorf("the process file became %s", left)
			}
			n.recordOf(signed) // a session that could begin has its record
		}
		t.Logf("%d of 80 were killed too late", whole)
	})
}

// container starts a detached session and returns the ID of its first process on the host, and its first lines.
func (n *node) session(t *testing.T, a attempt) (pid string, lines []string) {
	t.Helper()
	read, write, err := os.Pipe()
	must(t, err)
	t.Cleanup(func() { read.Close() })
	a.options = append(a.options, "--detach")
	o, cmd := n.prepare(n.path("lanyard oci"), a)
	cmd.Stdout, cmd.Stderr = write, write
	err = cmd.Run()
	write.Close()
	scanner := bufio.NewScanner(read)
	for scanner.Scan() && scanner.Text() != "ready" {
		lines = append(lines, scanner.Text())
	}
	if err != nil {
		t.Fatalf("%v: %q", err, lines)
	}
	text, err := os.ReadFile(o.pidFile)
	must(t, err)
	return string(text), lines
}

func TestUserNamespace(t *testing.T) {
	for _, r := range runtimes(t) {
		t.Run(r.name, func(t *testing.T) {
			n := newNode(t, r, func(n *node, spec map[string]any) {
				must(t, os.Chmod(n.dir, 0o755))
				linux := spec["linux"].(map[string]any)
				linux["namespaces"] = append(linux["namespaces"].([]map[string]string), map[string]string{"type": "user"})
				maps := []map[string]int{{"containerID": 0, "hostID": 100000, "size": 65536}}
				linux["uidMappings"], linux["gidMappings"] = maps, maps
				caps := []string{"CAP_AUDIT_CONTROL", "CAP_SETUID", "CAP_KILL"}
				spec["process"].(map[string]any)["capabilities"] = map[string]any{"bounding": caps, "effective": caps, "permitted": caps}
			})
			t.Run("BRG-3 in a user namespace the mark is set, and no capability there changes it", func(t *testing.T) {
				command := []string{"/probe", "login=4294967295", "login=5", "forever"}
				element, signed := n.sign(command, false, nil)
				pid, lines := n.session(t, attempt{args: append([]string{element}, command...), caps: []string{"CAP_AUDIT_CONTROL"}})
				if len(lines) != 2 || strings.Count(strings.Join(lines, " "), "not permitted") != 2 {
					t.Errorf("writing a login UID: %q", lines)
				}
				login, _ := os.ReadFile("/proc/" + pid + "/loginuid")
				session, _ := os.ReadFile("/proc/" + pid + "/sessionid")
				users, _ := os.ReadFile("/proc/" + pid + "/uid_map")
				if record := n.recordOf(signed); string(login) != fmt.Sprint(record.LoginUID) || string(session) != fmt.Sprint(record.SessionID) || !strings.Contains(string(users), "100000") {
					t.Errorf("login UID %s, session ID %s, record %+v, user namespace %s", login, session, record, users)
				}
			})
		})
	}
}

func TestPrivileged(t *testing.T) {
	n := newNode(t, runtimes(t)[0], func(_ *node, spec map[string]any) {
		caps := []string{"CAP_AUDIT_CONTROL", "CAP_SETUID", "CAP_KILL"}
		spec["process"].(map[string]any)["capabilities"] = map[string]any{"bounding": caps, "effective": caps, "permitted": caps}
	})
	t.Run("BRG-3 a privileged session that takes another's login UID is told by its session ID", func(t *testing.T) {
		other := []string{"/probe", "forever"}
		element, victim := n.sign(other, false, nil)
		n.session(t, attempt{args: append([]string{element}, other...)})
		login := strconv.FormatUint(uint64(n.recordOf(victim).LoginUID), 10)
		command := []string{"/probe", "report", "login=4294967295", "login=" + login, "report"}
		element, signed := n.sign(command, false, nil)
		o := n.wrapped(attempt{args: append([]string{element}, command...), caps: []string{"CAP_AUDIT_CONTROL"}})
		all := reports(t, o.out)
		if len(all) != 4 || all[1].Login != "<nil>" || all[2].Login != "<nil>" || all[3].LoginUID != login {
			t.Fatalf("%+v", o)
		}
		if all[0].SessionID != fmt.Sprint(n.recordOf(signed).SessionID) {
			t.Errorf("before: %+v", all[0])
		}
		for _, record := range n.records() {
			if fmt.Sprint(record.SessionID) == all[3].SessionID {
				t.Errorf("session ID %s is that of the record %+v", all[3].SessionID, record)
			}
		}
	})
}

func TestTerminal(t *testing.T) {
	command := []string{"/probe", "report"}
	for _, r := range runtimes(t) {
		t.Run(r.name, func(t *testing.T) {
			n := newNode(t, r)
			t.Run("BRG-1 CRI-O's streaming exec: in the foreground, with a terminal, without a file for the ID", func(t *testing.T) {
				element, signed := n.sign(command, true, nil)
				o, _ := n.prepare("", attempt{args: append([]string{element}, command...), tty: true})
				args := []string{n.path("lanyard oci"), "--root", n.path("root"), "exec", "--process", o.file, n.id}
				for i, arg := range args {
					args[i] = "'" + arg + "'"
				}
				o.result = n.run(n.command("script", "-qec", strings.Join(args, " "), "/dev/null"))
				all := reports(t, object(o.out))
				if record := n.recordOf(signed); len(all) != 1 || all[0].SessionID != fmt.Sprint(record.SessionID) || !record.TTY || record.Where.PIDFile != "" || len(record.Where.ExecID) != 32 {
					t.Errorf("%+v, record %+v", o, record)
				}
			})
			t.Run("BRG-1 CRI-O's ExecSync: through conmon, with and without a terminal", func(t *testing.T) {
				conmon, err := exec.LookPath("conmon")
				if err != nil {
					t.Skip(err)
				}
				for _, tty := range []bool{false, true} {
					element, signed := n.sign(command, tty, nil)
					o, _ := n.prepare("", attempt{args: append([]string{element}, command...), tty: tty})
					args := []string{
						"--sync", "--cid", n.id, "--cuuid", n.id, "--name", "app", "--bundle", n.path("bundle"), "--runtime", n.path("lanyard oci"),
						"--runtime-arg", "--root=" + n.path("root"), "--container-pidfile", o.pidFile, "--log-path", o.log, "--exec",
						"--exec-process-spec", o.file, "--exit-dir", n.dir, "--socket-dir-path", n.dir, "--full-attach",
					}
					if tty {
						args = append(args, "--terminal")
					}
					got := n.run(n.command(conmon, args...))
					log, err := os.ReadFile(o.log)
					must(t, err)
					record := n.recordOf(signed)
					all := reports(t, object(string(log)))
					if got.code != 0 || len(all) != 1 || all[0].SessionID != fmt.Sprint(record.SessionID) || record.TTY != tty || record.Where.PIDFile == "" {
						t.Errorf("%+v, log %s, record %+v", got, log, record)
					}
				}
			})
		})
	}
}

// object returns the JSON object in what a terminal or a log put around it.
func object(said string) string {
	start, end := strings.Index(said, "{"), strings.LastIndex(said, "}")
	return said[max(start, 0) : end+1]
}
