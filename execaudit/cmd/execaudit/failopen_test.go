package main

import (
	"bytes"
	"compress/gzip"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// without returns a line without a member.
func without(t *testing.T, line, member string) string {
	t.Helper()
	if !strings.Contains(line, member) {
		t.Fatalf("%s has no %s", line, member)
	}
	return strings.Replace(line, member, "", 1)
}

func TestNodeNames(t *testing.T) {
	audit := file(t, auditLine)
	placed := strings.Replace(eventLine, `"containerID"`, `"namespace":"shop","pod":"web-0","container":"app","containerID"`, 1)
	one := without(t, placed, `"node":"n1",`)
	// On another node, whose PIDs and ticks are its own, a process of the same numbers has a child.
	other := `{"version":1,"event":"exec","time":"2026-11-21T04:10:01Z","process":{"pid":4800,"startTicks":20,"bootID":"b1"},"parent":{"pid":4711,"startTicks":12,"bootID":"b1"},"argv":["rm","-rf","/"]}` + "\n"
	t.Run("ATT-14 ATT-8 lines without a node name are faults with file and line and merge no nodes", func(t *testing.T) {
		first, second := file(t, one), file(t, placed+other)
		code, out, errOut := command(t, "", "attribute", "--audit", audit, "--journal", file(t, intent), "--events", first, "--events", second, "--all")
		if code != exitFaults || strings.Contains(out, "rm -rf") || !strings.Contains(out, "corroborated  alice") {
			t.Errorf("code %d, out %s", code, out)
		}
		for _, want := range []string{first + ":1: ", second + ":2: ", "no node name"} {
			if !strings.Contains(errOut, want) {
				t.Errorf("no %q in %s", want, errOut)
			}
		}
	})
	t.Run("ATT-14 an empty node name and null are none", func(t *testing.T) {
		for _, none := range []string{`"node":"",`, `"node":null,`} {
			code, out, errOut := command(t, strings.Replace(placed, `"node":"n1",`, none, 1), "attribute", "--audit", audit, "--events", "-")
			if code != exitFaults || out != "" || !strings.Contains(errOut, "-:1: malformed line: no node name") {
				t.Errorf("%s: code %d, %s%s", none, code, out, errOut)
			}
		}
	})
	t.Run("ATT-14 --node names the node of lines that name none, also by an empty name", func(t *testing.T) {
		for _, none := range []string{"", `"node":"",`, `"node":null,`} {
			events := file(t, strings.Replace(placed, `"node":"n1",`, none, 1))
			code, out, errOut := command(t, "", "attribute", "--audit", audit, "--journal", file(t, intent), "--events", events, "--node", "n1")
			if code != exitMatched || !strings.Contains(out, "corroborated  alice") {
				t.Errorf("%q: code %d, %s%s", none, code, out, errOut)
			}
		}
	})
}

func TestNullImpersonation(t *testing.T) {
	for _, c := range []struct {
		name, member, out string
		code              int
	}{
		{"ATT-14 a null impersonated user is none", `"impersonatedUser":null,`, "corroborated  alice  ", exitMatched},
		{"ATT-14 an impersonated user without a name is a fault", `"impersonatedUser":{},`, "unknown       -", exitFaults},
		{"ATT-14 an impersonated user with an empty name is a fault", `"impersonatedUser":{"username":"","groups":["dev"]},`, "unknown       -", exitFaults},
		{"ATT-14 an impersonated user that is no object is a fault", `"impersonatedUser":"bob",`, "unknown       -", exitFaults},
		{"ATT-14 an impersonated user is named", `"impersonatedUser":{"username":"bob"},`, "corroborated  bob (by alice)", exitMatched},
	} {
		t.Run(c.name, func(t *testing.T) {
			audit := strings.Replace(auditLine, `"objectRef"`, c.member+`"objectRef"`, 1)
			code, out, errOut := command(t, eventLine, "attribute", "--audit", file(t, audit), "--journal", file(t, intent), "--events", "-")
			if code != c.code || !strings.Contains(out, c.out) {
				t.Errorf("code %d, want %d; out %s, want %q in it; %s", code, c.code, out, c.out, errOut)
			}
		})
	}
}

func TestNoSuchDay(t *testing.T) {
	t.Run("ATT-14 ATT-8 a 31 February is a fault and no 3 March", func(t *testing.T) {
		for _, c := range []struct{ audit, events, journal string }{
			{strings.ReplaceAll(auditLine, "2026-11-21", "2026-02-31"), eventLine, intent},
			{strings.Replace(auditLine, `"stageTimestamp":"2026-11-21`, `"stageTimestamp":"2026-02-31`, 1), eventLine, intent},
			{auditLine, strings.Replace(eventLine, "2026-11-21", "2026-02-31", 1), intent},
			{auditLine, eventLine, strings.Replace(intent, "2026-11-21", "2026-02-31", 1)},
		} {
			code, out, errOut := command(t, c.events, "attribute", "--audit", file(t, c.audit), "--journal", file(t, c.journal), "--events", "-")
			if code != exitFaults || strings.Contains(out, "03-03") || strings.Contains(out, "corroborated") || !strings.Contains(errOut, ":1: malformed line") {
				t.Errorf("code %d, %s%s", code, out, errOut)
			}
		}
	})
}

func zipped(t *testing.T, text string) string {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := z.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

const (
	nestedAudit = `{"_index":"audit","_id":"1","_source":` + "%s" + `}`
	stockAlert  = `{"hostname":"n1","output":"04:10:00.25: Notice A shell was spawned","priority":"Notice","rule":"Terminal shell in container","source":"syscall","tags":["T1059"],"time":"2026-11-21T04:10:00.250000000Z","output_fields":{"container.id":"8762eafc25a3","evt.time":1795234200250000000,"proc.cmdline":"sh","user.name":"root"}}` + "\n"
)

func nest(line, around string) string {
	return strings.Replace(around, "%s", strings.TrimSpace(line), 1) + "\n"
}

func TestNothingUsed(t *testing.T) {
	elastic, fluent := nestedAudit, `{"date":1795234200.25,"kubernetes":{"pod_name":"x"},"log":%s}`
	for _, c := range []struct{ name, audit, events string }{
		{"an audit log in Elasticsearch's envelope", nest(auditLine, elastic), eventLine},
		{"an audit log of other requests in Elasticsearch's envelope", nest(strings.ReplaceAll(auditLine, `"exec"`, `"log"`), elastic), eventLine},
		{"an audit log in Fluent Bit's envelope", nest(auditLine, fluent), eventLine},
		{"process events in Elasticsearch's envelope", auditLine, nest(eventLine, elastic)},
		{"process events in Fluent Bit's envelope", auditLine, nest(eventLine, fluent)},
		{"Tetragon in Elasticsearch's envelope", auditLine, nest(`{"process_exec":{"process":{"exec_id":"a","pid":4711}},"node_name":"n1","time":"2026-11-21T04:10:00.25Z"}`, elastic)},
		{"Falco's stock alerts", auditLine, stockAlert + stockAlert},
		{"Falco's alerts without fields", auditLine, `{"hostname":"n1","time":"2026-11-21T04:10:00Z","rule":"x","output_fields":null}` + "\n"},
		{"an empty file", auditLine, ""},
		{"a file of empty lines", auditLine, "\n\r\n\n"},
		{"an empty gzip", auditLine, zipped(t, "")},
		{"a binary file", auditLine, "\x7fELF\x02\x01\x01\x00\x00\n\x00\x01"},
	} {
		t.Run("ATT-15 ATT-10 nothing used is a fault: "+c.name, func(t *testing.T) {
			audit, events := file(t, c.audit), file(t, c.events)
			code, _, errOut := command(t, "", "attribute", "--audit", audit, "--events", events)
			bad := audit
			if c.audit == auditLine {
				bad = events
			}
			if code != exitFaults || !strings.Contains(errOut, bad+": nothing of the file could be used\n") {
				t.Errorf("code %d: %s", code, errOut)
			}
			if strings.Contains(errOut, "\x7f") {
				t.Error("content of the file is in an error")
			}
		})
	}
	t.Run("ATT-15 a journal of nothing but another version is a fault", func(t *testing.T) {
		journal := file(t, strings.Replace(intent, `"version":1`, `"version":2`, 1))
		code, _, errOut := command(t, eventLine, "attribute", "--audit", file(t, auditLine), "--events", "-", "--journal", journal)
		if code != exitFaults || !strings.Contains(errOut, journal+": nothing of the file could be used\n") {
			t.Errorf("code %d: %s", code, errOut)
		}
	})
	t.Run("ATT-15 ATT-10 one bad file is a fault beside good ones of the same log", func(t *testing.T) {
		good, bad := file(t, eventLine), file(t, stockAlert)
		code, out, errOut := command(t, "", "attribute", "--audit", file(t, auditLine), "--journal", file(t, intent), "--events", good+","+bad)
		if code != exitFaults || !strings.Contains(out, "corroborated  alice") || !strings.Contains(errOut, bad+": nothing of the file could be used\n") {
			t.Errorf("code %d: %s%s", code, out, errOut)
		}
	})
	t.Run("ATT-15 ATT-10 an audit log that holds no exec says so, and is no fault", func(t *testing.T) {
		audit := file(t, strings.ReplaceAll(auditLine, `"exec"`, `"log"`))
		code, _, errOut := command(t, without(t, eventLine, `"auditID":"id-a",`), "attribute", "--audit", audit, "--events", "-")
		if code != exitNothing || !strings.Contains(errOut, audit+": 0 lines used, 1 ignored (1 of other requests), 0 faulted\n") {
			t.Errorf("code %d: %s", code, errOut)
		}
	})
	t.Run("ATT-15 a directory is a fault that names it", func(t *testing.T) {
		dir := t.TempDir()
		code, _, errOut := command(t, "", "attribute", "--audit", file(t, auditLine), "--events", dir)
		if code != exitFaults || !strings.Contains(errOut, dir) {
			t.Errorf("code %d: %s", code, errOut)
		}
	})
}

func TestTallies(t *testing.T) {
	t.Run("ATT-15 for each file it is said how many lines were used, ignored by kind, and faulted", func(t *testing.T) {
		audit := file(t, auditLine+strings.ReplaceAll(auditLine, `"exec"`, `"log"`)+"hunter2\n")
		old, now := file(t, zipped(t, eventLine)), file(t, eventLine+"\n"+eventLine)
		alerts := file(t, stockAlert+strings.Replace(stockAlert, `"proc.cmdline"`, `"proc.pid":4711,"proc.cmdline"`, 1)+stockAlert)
		loader := file(t, `{"process_loader":{"process":{"exec_id":"a","pid":4711}},"node_name":"n1","time":"2026-11-21T04:10:00Z"}`+"\n"+
			`{"rate_limit_info":{"number_of_dropped_process_events":"5"},"node_name":"n1","time":"2026-11-21T04:10:00Z"}`+"\n")
		code, _, errOut := command(t, "", "attribute", "--audit", audit, "--events", old+","+now, "--events", alerts, "--events", loader)
		want := audit + ": 1 line used, 1 ignored (1 of other requests), 1 faulted\n" +
			old + ": 1 line used, 0 ignored, 0 faulted\n" +
			now + ": 2 lines used, 0 ignored, 0 faulted\n" +
			alerts + ": 1 line used, 2 ignored (2 without a process), 0 faulted\n" +
			loader + ": 1 line used, 1 ignored (1 without a process), 0 faulted\n"
		if code != exitFaults || !strings.Contains(errOut, want) {
			t.Errorf("code %d: %s, want %s", code, errOut, want)
		}
	})
}

func TestTerminal(t *testing.T) {
	t.Run("ATT-9 a file's name cannot write on the terminal", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "a\x1b[2J\u009b31m\nforged")
		for _, text := range []string{"", "hunter2\n", eventLine} {
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			_, _, errOut := command(t, "", "attribute", "--audit", file(t, auditLine), "--events", path)
			if strings.ContainsAny(errOut, "\x1b\u009b") || strings.Contains(errOut, "\nforged") {
				t.Errorf("%q", errOut)
			}
		}
		for _, args := range [][]string{{"attribute", "--audit", path + "x", "--events", path}, {"attribute", "-o", "\x1b[2J", "--audit", path, "--events", path}, {"\x1b[2J"}, {"attribute", "--\x1b[2J"}} {
			if _, _, errOut := command(t, "", args...); strings.Contains(errOut, "\x1b") {
				t.Errorf("%q", errOut)
			}
		}
	})
	t.Run("ATT-9 no form of output passes what logs hold for terminals, and JSON loses nothing", func(t *testing.T) {
		nasty := "\x1b]0;x\x07\u009b2J\u202e\x7f"
		events := strings.Replace(eventLine, `"id"`, `"\u001b]0;x\u0007\u009b2J\u202e\u007f"`, 1)
		audit := strings.Replace(auditLine, `"username":"alice"`, `"username":"alice\u001b]0;x\u0007\u009b2J\u202e\u007f"`, 1)
		for _, format := range []string{"table", "json", "html"} {
			code, out, errOut := command(t, events, "attribute", "--audit", file(t, audit), "--journal", file(t, intent), "--events", "-", "-o", format)
			if code != exitMatched || strings.ContainsAny(out+errOut, nasty[:1]+"\x07\u009b\u202e\x7f") {
				t.Errorf("%s: code %d, %q", format, code, out)
			}
			if format == "json" && !strings.Contains(out, `\u009b2J\u202e\u007f`) {
				t.Errorf("JSON lost something: %s", out)
			}
		}
	})
}
