//go:build linux

package main_test

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/lanyard-dev/lanyard/execaudit/bridge/oci"
	"github.com/lanyard-dev/lanyard/execaudit/bridge/spool"
	"github.com/lanyard-dev/lanyard/execaudit/bridge/token"
)

// logLine is a line of the runtime's log.
type logLine struct {
	Level, Msg string
	Time       time.Time
}

// refused checks that an attempt was refused for a reason, told where it must be, and changed and started nothing.
func (n *node) refused(t *testing.T, o outcome, why string) {
	t.Helper()
	if o.code != 255 || o.out != "" || !strings.Contains(o.err, why) {
		t.Errorf("exit code %d, standard output %q, standard error %q, want 255, none, %q", o.code, o.out, o.err, why)
	}
	log, err := os.ReadFile(o.log)
	must(t, err)
	var line logLine
	if err := json.Unmarshal(log, &line); err != nil || line.Level != "error" || !strings.Contains(line.Msg, why) || time.Since(line.Time).Abs() > time.Hour {
		t.Errorf("log %s, %v, want %q", log, err, why)
	}
	if left, err := os.ReadFile(o.file); err == nil && string(left) != o.text {
		t.Errorf("the process file became %s", left)
	}
	entries, err := os.ReadDir(n.dir)
	must(t, err)
	for _, entry := range entries {
		if strings.Contains(entry.Name(), ".lanyard-") {
			t.Errorf("left: %s", entry.Name())
		}
	}
	for _, shown := range []string{o.err, string(log)} {
		if token.Like(shown) || strings.Contains(shown, "secret-value") {
			t.Errorf("shown: %s", shown)
		}
	}
}

// recorded checks that the only refusal that waits is for this reason.
func (n *node) recorded(t *testing.T, why string) spool.Refusal {
	t.Helper()
	all := n.refusals()
	if len(all) != 1 || !strings.Contains(all[0].Reason, why) || token.Like(fmt.Sprintf("%+v", all[0])) {
		t.Fatalf("refusals %+v, want one: %s", all, why)
	}
	return all[0]
}

func TestRefusals(t *testing.T) {
	command := []string{"/probe", "report"}
	secret := []string{"PASSWORD=secret-value"}
	for _, r := range runtimes(t) {
		t.Run(r.name, func(t *testing.T) {
			n := newNode(t, r)
			first, signed := n.sign(command, false, nil)
			if o := n.wrapped(attempt{args: append([]string{first}, command...)}); o.code != 0 {
				t.Fatalf("%+v", o)
			}
			other := token.NewKey()
			good, _ := n.sign(command, false, nil)
			sign := func(change func(*token.Token)) []string {
				text, _ := n.sign(command, false, change)
				return append([]string{text}, command...)
			}
			forged := func(key token.Key) []string {
				held := n.key
				defer func() { n.key = held }()
				n.key = key
				return sign(nil)
			}
			for name, c := range map[string]struct {
				attempt
				why string
			}{
				"BRG-2 a token that was used": {attempt{args: append([]string{first}, command...)}, "token was used before"},
				"BRG-4 a token that expired": {attempt{args: sign(func(t *token.Token) {
					t.NotBefore, t.Expiry = time.Now().Add(-2*time.Minute), time.Now().Add(-time.Minute)
				})}, "token expired 6"},
				"BRG-6 a token from the future": {attempt{args: sign(func(t *token.Token) {
					t.NotBefore, t.Expiry = time.Now().Add(time.Minute), time.Now().Add(2*time.Minute)
				})}, "token not valid for another"},
				"BRG-4 a token for another node":                        {attempt{args: sign(func(t *token.Token) { t.Node = "n2" })}, `token is for another node: "n2", this is "n1"`},
				"BRG-4 a token for another container":                   {attempt{args: sign(func(t *token.Token) { t.Container = "db" })}, `token is for another container: "db", this is "app"`},
				"BRG-4 a token for a pod of the same name":              {attempt{args: sign(func(t *token.Token) { t.Pod.UID = "u0" })}, `token is for another pod UID: "u0", this is "u1"`},
				"BRG-4 a token for another pod":                         {attempt{args: sign(func(t *token.Token) { t.Pod.Name = "x" })}, `token is for another pod: "x", this is "web"`},
				"BRG-4 a token for another namespace":                   {attempt{args: sign(func(t *token.Token) { t.Pod.Namespace = "x" })}, `token is for another namespace: "x", this is "default"`},
				"BRG-4 a token for another command":                     {attempt{args: []string{good, "/probe", "exit=1"}}, "token is for another command"},
				"BRG-4 a token with a longer command":                   {attempt{args: []string{good, "/probe", "report", ""}}, "token is for another command"},
				"BRG-4 a token for no terminal":                         {attempt{args: append([]string{good}, command...), tty: true}, "token is for another command"},
				"BRG-2 a token signed by a retired key":                 {attempt{args: forged(other)}, "is not among this node's keys"},
				"BRG-4 a token that was altered":                        {attempt{args: []string{good[:len(good)-8] + "AAAAAAAA", "/probe", "report"}}, "not signed as it is"},
				"BRG-4 a token of a later version":                      {attempt{args: append([]string{"lanyard-exec:2:x"}, command...)}, "unknown token version"},
				"BRG-4 something like a token":                          {attempt{args: append([]string{"lanyard-exec:"}, command...)}, "malformed token"},
				"BRG-4 a token behind something":                        {attempt{args: append([]string{"x" + good}, command...)}, "command: element 0 is like a token"},
				"BRG-4 a token at the second place":                     {attempt{args: []string{"/probe", good, "report"}}, "command: element 1 is like a token"},
				"BRG-4 a token inside of an element":                    {attempt{args: []string{"/probe", "report", "echo " + good}}, "command: element 2 is like a token"},
				"BRG-4 two tokens":                                      {attempt{args: append([]string{good, good}, command...)}, "command: element 1 is like a token"},
				"BRG-4 a token without a command":                       {attempt{args: []string{good}}, "command: element 1 is empty"},
				"BRG-4 a token before an empty element":                 {attempt{args: []string{good, ""}}, "command: element 1 is empty"},
				"BRG-6 a NUL byte":                                      {attempt{args: append([]string{good}, "/probe", "a\x00b")}, "command: element 2 has a NUL byte"},
				"BRG-6 invalid UTF-8 that the webhook signed otherwise": {attempt{raw: `{"args":["` + good + `","/probe","report` + "\xff" + `"],"cwd":"/","user":{}}`}, "token is for another command"},
				"BRG-4 arguments that are there twice":                  {attempt{raw: `{"args":["` + good + `","/probe"],"args":["/probe"]}`}, "args is there twice"},
				"BRG-4 arguments in another case":                       {attempt{raw: `{"ARGS":["` + good + `","/probe"],"cwd":"/"}`}, "args is there twice, or in another case"},
				"BRG-4 a token in a comment, which crun takes":          {attempt{raw: `{"args":["/probe"/*` + good + `*/]}`}, "not valid JSON"},
				"BRG-6 half a process file":                             {attempt{raw: `{"args":["` + good + `","/probe"`}, "not valid JSON"},
			} {
				t.Run(name, func(t *testing.T) {
					c.env = secret
					n.refused(t, n.wrapped(c.attempt), c.why)
					if got := n.recorded(t, c.why); got.Where.ContainerID != n.id || got.Where.PodUID != "u1" || got.Where.Node != "n1" {
						t.Errorf("recorded as %+v", got)
					}
				})
			}
			t.Run("BRG-4 a refusal tells the session, whether it was really asked for, and the command", func(t *testing.T) {
				n.refused(t, n.wrapped(attempt{args: append([]string{first}, command...)}), "used before")
				if got := n.recorded(t, "used before"); got.Session != signed.Session || !got.Verified || fmt.Sprint(got.Argv) != "[[token] /probe report]" {
					t.Errorf("recorded as %+v", got)
				}
				n.refused(t, n.wrapped(attempt{args: forged(other)}), "keys")
				if got := n.recorded(t, "keys"); got.Verified || got.Session == signed.Session {
					t.Errorf("recorded as %+v", got)
				}
			})
			t.Run("BRG-2 no refusal used up the token that it was tried with", func(t *testing.T) {
				if o := n.wrapped(attempt{args: append([]string{good}, command...)}); o.code != 0 {
					t.Errorf("%+v", o)
				}
			})
			t.Run("BRG-4 a token among arguments that stand in no file", func(t *testing.T) {
				text, _ := n.sign(command, false, nil)
				got := n.call(n.path("lanyard oci"), append([]string{"--root", n.path("root"), "exec", n.id, text}, command...)...)
				if got.code != 255 || got.out != "" || !strings.Contains(got.err, "a token is taken from a process file") || token.Like(got.err) {
					t.Errorf("%+v", got)
				}
				n.recorded(t, "a token is taken from a process file")
			})
			t.Run("BRG-4 an ID that leads to another container's state", func(t *testing.T) {
				text, _ := n.sign(command, false, nil)
				o, cmd := n.prepare(n.path("lanyard oci"), attempt{args: append([]string{text}, command...)})
				cmd.Args[len(cmd.Args)-1] = "x/../" + n.id
				o.result = n.run(cmd)
				n.refused(t, o, "is not one element of a path")
				n.recorded(t, "is not one element of a path")
			})
			t.Run("BRG-4 process files that others could change", func(t *testing.T) {
				for why, change := range map[string]func(name string){
					"is a symbolic link":       func(name string) { must(t, os.Rename(name, name+".real")); must(t, os.Symlink(name+".real", name)) },
					"is of user 65534":         func(name string) { must(t, os.Chown(name, 65534, 65534)) },
					"can be written by others": func(name string) { must(t, os.Chmod(name, 0o620)) },
				} {
					text, _ := n.sign(command, false, nil)
					o, cmd := n.prepare(n.path("lanyard oci"), attempt{args: append([]string{text}, command...)})
					change(o.file)
					o.result = n.run(cmd)
					n.refused(t, o, why)
					n.recorded(t, why)
				}
			})
			t.Run("BRG-4 a token for a container that is not Kubernetes'", func(t *testing.T) {
				alone := newNode(t, r, func(_ *node, spec map[string]any) { delete(spec, "annotations") })
				text, _ := alone.sign(command, false, nil)
				alone.refused(t, alone.wrapped(attempt{args: append([]string{text}, command...)}), "pod UID is not in the bundle's annotations")
			})
			t.Run("BRG-4 annotations that are there twice", func(t *testing.T) {
				twice := newNode(t, r)
				twice.write("bundle/config.json", strings.Replace(text(twice.spec()), `"annotations":{`, `"annotations":{"io.kubernetes.cri.sandbox-uid":"u0",`, 1))
				element, _ := twice.sign(command, false, nil)
				twice.refused(t, twice.wrapped(attempt{args: append([]string{element}, command...)}), "annotation io.kubernetes.cri.sandbox-uid is there twice")
			})
			t.Run("BRG-6 a refusal whose log cannot be written is told on standard error in the log's form", func(t *testing.T) {
				o, cmd := n.prepare(n.path("lanyard oci"), attempt{args: append([]string{first}, command...)})
				for i, arg := range cmd.Args {
					if arg == o.log {
						cmd.Args[i] = "/nonexistent/log"
					}
				}
				got := n.run(cmd)
				var line logLine
				if err := json.Unmarshal([]byte(got.err), &line); err != nil || line.Level != "error" || got.code != 255 {
					t.Errorf("%+v", got)
				}
				n.recorded(t, "used before")
			})
		})
	}
}

func TestFailures(t *testing.T) {
	command := []string{"/probe", "report"}
	r := runtimes(t)[0]
	n := newNode(t, r)
	// try is one attempt with a good token.
	try := func() (outcome, token.Token) {
		element, signed := n.sign(command, false, nil)
		return n.wrapped(attempt{args: append([]string{element}, command...), env: []string{"LANYARD_EXEC_SESSION=planted"}}), signed
	}
	t.Run("BRG-6 a spool that is missing, full or read-only refuses, and lets go on without mark and record where it may", func(t *testing.T) {
		full, readOnly := n.path("full"), n.path("read-only")
		mount(t, full, "size=16k")
		must(t, os.WriteFile(full+"/ballast", make([]byte, 16<<10), 0o600))
		mount(t, readOnly, "ro")
		for _, c := range []struct{ spool, why string }{
			{n.path("none"), "no such file or directory"},
			{full, "no space left on device"},
			{readOnly, "read-only file system"},
		} {
			before := n.config
			n.configure(func(c2 *oci.Config) { c2.Spool = c.spool })
			o, _ := try()
			n.refused(t, o, "spool: ")
			if !strings.Contains(o.err, c.why) {
				t.Errorf("standard error %q, want %q", o.err, c.why)
			}
			n.configure(func(c2 *oci.Config) { c2.Failure = oci.FailOpen })
			o, _ = try()
			all := reports(t, o.out)
			if len(all) != 1 || o.err != "" {
				t.Fatalf("%+v", o)
			}
			if all[0].LoginUID != "4294967295" || strings.Contains(fmt.Sprint(all[0]), "LANYARD_EXEC") || strings.Contains(fmt.Sprint(all[0]), "lanyard-exec") {
				t.Errorf("%+v", all[0])
			}
			if log, err := os.ReadFile(o.log); err != nil || !strings.Contains(string(log), `"level":"warning"`) || !strings.Contains(string(log), c.why) {
				t.Errorf("log %s, %v", log, err)
			}
			n.configure(func(c *oci.Config) { *c = before })
		}
		if left, err := os.ReadDir(full); err != nil || len(left) != 1 {
			t.Errorf("in the full directory: %v, %v", left, err)
		}
	})
	t.Run("BRG-2 a token that was used is refused also where a session may go on without record", func(t *testing.T) {
		before := n.config
		n.configure(func(c *oci.Config) { c.Failure = oci.FailOpen })
		element, _ := n.sign(command, false, nil)
		if o := n.wrapped(attempt{args: append([]string{element}, command...)}); o.code != 0 {
			t.Errorf("%+v", o)
		}
		n.refused(t, n.wrapped(attempt{args: append([]string{element}, command...)}), "token was used before")
		n.configure(func(c *oci.Config) { *c = before })
	})
	t.Run("BRG-6 a mark that the kernel refuses is told in the record, and the session goes on", func(t *testing.T) {
		for why, login := range map[string]string{"login UID 1000 was set before": "1000", "operation not permitted": "0"} {
			element, signed := n.sign(command, false, nil)
			o, cmd := n.prepare(n.path("lanyard oci"), attempt{args: append([]string{element}, command...)})
			// As a containerd that somebody started by hand: with a login UID, and without the capability to change it.
			cmd.Args = append([]string{"sh", "-c", "echo " + login + ` > /proc/self/loginuid; exec setpriv --bounding-set -audit_control --inh-caps -audit_control "$@"`, "sh"}, cmd.Args...)
			cmd.Path = "/bin/sh"
			o.result = n.run(cmd)
			record := n.recordOf(signed)
			all := reports(t, o.out)
			if len(all) != 1 || all[0].LoginUID != login || !strings.Contains(strings.Join(all[0].Env, " "), signed.Session.String()) {
				t.Fatalf("%+v", o)
			}
			if !strings.Contains(record.Mark, why) || record.SessionID != 0 || record.LoginUID != 0 {
				t.Errorf("record %+v, want %q", record, why)
			}
		}
	})
	t.Run("BRG-6 keys that are missing or broken refuse and say so", func(t *testing.T) {
		for _, c := range []struct{ text, why string }{{"", "the list has no key"}, {"x\n", "bad token key in line 1"}, {n.key.Reveal(), "a private key, which belongs to the webhook"}} {
			n.write("keys", c.text)
			o, _ := try()
			n.refused(t, o, c.why)
			if strings.Contains(o.err, n.key.Reveal()) {
				t.Errorf("shown: %s", o.err)
			}
		}
		must(t, os.Remove(n.path("keys")))
		o, _ := try()
		n.refused(t, o, "no such file or directory")
		n.write("keys", token.Keys{token.NewKey().Public(), n.key.Public()}.Text())
		if o, _ := try(); o.code != 0 {
			t.Errorf("%+v", o)
		}
	})
	t.Run("BRG-6 a runtime that is missing is told, and takes no token", func(t *testing.T) {
		before := n.config
		n.configure(func(c *oci.Config) { c.Runtime = n.path("no runtime") })
		records := len(n.records())
		o, _ := try()
		n.refused(t, o, "execute the runtime")
		if got := n.call(n.path("lanyard oci"), "--version"); got.code != 1 || !strings.Contains(got.err, "no runtime: no such file") || got.out != "" {
			t.Errorf("%+v", got)
		}
		if len(n.records()) != records {
			t.Error("a record was written")
		}
		n.configure(func(c *oci.Config) { c.Runtime = n.path("lanyard oci") })
		if got := n.call(n.path("lanyard oci"), "--version"); got.code != 1 || !strings.Contains(got.err, "is lanyard-oci itself") {
			t.Errorf("%+v", got)
		}
		n.configure(func(c *oci.Config) { *c = before })
	})
	t.Run("BRG-6 a configuration that is missing or broken executes nothing", func(t *testing.T) {
		held := string(n.config.Encode())
		for _, c := range []struct{ text, why string }{{"{", "not valid JSON"}, {`{"version":1}`, "runtime must be an absolute path"}, {`{"version":9}`, "version is 9"}} {
			n.write("lanyard oci.json", c.text)
			o, _ := try()
			n.refused(t, o, c.why)
			if got := n.call(n.path("lanyard oci"), "--log", n.path("text.log"), "state", n.id); got.code != 1 || got.out != "" || !strings.Contains(got.err, c.why) {
				t.Errorf("%+v", got)
			}
		}
		if log, err := os.ReadFile(n.path("text.log")); err != nil || !strings.HasPrefix(string(log), `time="`) || !strings.Contains(string(log), `" level=error msg="lanyard-oci: `) {
			t.Errorf("log %s, %v", log, err)
		}
		must(t, os.Remove(n.path("lanyard oci.json")))
		o, _ := try()
		n.refused(t, o, "no configuration")
		n.write("lanyard oci.json", held)
	})
	t.Run("BRG-6 a process file that is larger than any that can be started", func(t *testing.T) {
		o, cmd := n.prepare(n.path("lanyard oci"), attempt{args: command})
		must(t, os.Truncate(o.file, oci.MaxProcessBytes+1))
		o.text = ""
		o.result = n.run(cmd)
		if !strings.Contains(o.err, "more than 41943040") || o.code != 255 {
			t.Errorf("%+v", o.result)
		}
	})
	t.Run("BRG-5 a large process file without a token is the runtime's", func(t *testing.T) {
		o := n.wrapped(attempt{args: command, env: strings.Split(strings.Repeat("X=1 ", 200_000), " ")[:200_000]})
		if all := reports(t, o.out); len(all) != 1 {
			t.Errorf("%d, %s", o.code, o.err)
		}
	})
	t.Run("BRG-11 one that passes through takes no token off and runs nothing of it", func(t *testing.T) {
		before := n.config
		n.configure(func(c *oci.Config) { *c = oci.Config{Runtime: r.path, PassThrough: true} })
		if o := n.wrapped(attempt{args: command}); len(reports(t, o.out)) != 1 {
			t.Errorf("%+v", o)
		}
		if o, _ := try(); o.code == 0 || o.out != "" {
			t.Errorf("%+v", o)
		}
		n.configure(func(c *oci.Config) { *c = before })
	})
}
