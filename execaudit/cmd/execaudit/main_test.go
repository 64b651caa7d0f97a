package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/lanyard-dev/lanyard/execaudit/attribution/lines"
	"github.com/lanyard-dev/lanyard/execaudit/attribution/report"
)

const (
	auditLine = `{"kind":"Event","apiVersion":"audit.k8s.io/v1","auditID":"id-a","stage":"ResponseStarted","requestURI":"/api/v1/namespaces/shop/pods/web-0/exec?command=sh\u0026container=app","user":{"username":"alice","groups":["dev"]},"objectRef":{"resource":"pods","namespace":"shop","name":"web-0","subresource":"exec"},"responseStatus":{"code":101},"requestReceivedTimestamp":"2026-11-21T04:10:00Z","stageTimestamp":"2026-11-21T04:10:00.1Z"}` + "\n"
	eventLine = `{"version":1,"event":"exec","time":"2026-11-21T04:10:00.25Z","node":"n1","containerID":"8762eafc25a3","process":{"pid":4711,"startTicks":12,"bootID":"b1"},"parent":{"pid":1,"startTicks":1,"bootID":"b1"},"parentOutside":true,"firstImage":true,"auditID":"id-a","argv":["sh","-c","id"]}` + "\n"
	intent    = `{"version":1,"kind":"start","time":"2026-11-21T04:10:00.2Z","node":"n1","containerID":"8762eafc25a35ab9","execID":"e1","auditID":"id-a","namespace":"shop","pod":"web-0","container":"app","pid":4711,"startTicks":12,"bootID":"b1"}` + "\n"
)

func file(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func command(t *testing.T, in string, args ...string) (code int, out, errOut string) {
	t.Helper()
	var o, e bytes.Buffer
	code = run(context.Background(), args, streams{strings.NewReader(in), &o, &e})
	return code, o.String(), e.String()
}

func TestAttribute(t *testing.T) {
	audit, events, journal := file(t, auditLine), file(t, eventLine), file(t, intent)
	args := func(more ...string) []string {
		return append([]string{"attribute", "--audit", audit, "--journal", journal, "--events", events}, more...)
	}
	for _, c := range []struct {
		name string
		code int
		args []string
	}{
		{"ATT-10 something matched", exitMatched, args()},
		{"ATT-10 all filters match", exitMatched, args("--user", "alice", "--group", "dev", "--namespace", "shop", "--pod", "web-0", "--command", "sh -c")},
		{"ATT-10 another user", exitNothing, args("--user", "bob")},
		{"ATT-10 another group", exitNothing, args("--group", "ops")},
		{"ATT-10 another namespace", exitNothing, args("--namespace", "mail")},
		{"ATT-10 another pod", exitNothing, args("--pod", "web-1")},
		{"ATT-10 another command", exitNothing, args("--command", "bash")},
		{"ATT-10 unknown flag", exitUsage, args("--no-such-flag")},
		{"ATT-10 unknown output", exitUsage, args("-o", "yaml")},
		{"ATT-10 unknown command", exitUsage, []string{"attributes"}},
		{"ATT-10 no events", exitUsage, []string{"attribute", "--audit", audit}},
		{"ATT-10 an argument", exitUsage, args("extra")},
		{"ATT-10 following standard input", exitUsage, args("--follow", "--events", "-")},
		{"ATT-3 ATT-10 standard input for two logs", exitUsage, args("--events", "-", "--journal", "-")},
		{"ATT-6 ATT-10 a window of nothing", exitUsage, args("--window", "0s")},
		{"ATT-5 ATT-10 a skew below nothing", exitUsage, args("--skew", "-1s")},
		{"ATT-5 no skew, where clocks agree", exitMatched, args("--skew", "0s")},
		{"ATT-6 ATT-10 no memory", exitUsage, args("--memory", "0")},
		{"ATT-6 a bound of one MiB", exitMatched, args("--memory", "1")},
		{"ATT-8 ATT-10 a missing file", exitFaults, args("--events", filepath.Join(t.TempDir(), "none"))},
		{"ATT-8 ATT-10 a malformed line", exitFaults, args("--events", file(t, "hunter2\n"+eventLine))},
	} {
		t.Run(c.name, func(t *testing.T) {
			if code, _, errOut := command(t, "", c.args...); code != c.code {
				t.Errorf("exit code %d, want %d: %s", code, c.code, errOut)
			}
		})
	}
	t.Run("ATT-8 the malformed line is named and the rest answered", func(t *testing.T) {
		bad := file(t, eventLine+"hunter2\n")
		_, out, errOut := command(t, "", "attribute", "--audit", audit, "--journal", journal, "--events", bad)
		if !strings.Contains(errOut, bad+":2: malformed line") || strings.Contains(errOut, "hunter2") || !strings.Contains(out, "alice") {
			t.Errorf("out %s, err %s", out, errOut)
		}
	})
	t.Run("ATT-3 ATT-9 events from standard input, answers as table, JSON lines and page", func(t *testing.T) {
		for format, want := range map[string]string{"table": "corroborated  alice", "json": `"user":"alice"`, "html": "<title>Who ran this?"} {
			code, out, errOut := command(t, eventLine, "attribute", "--audit", audit, "--journal", journal, "--events", "-", "-o", format)
			if code != exitMatched || !strings.Contains(out, want) {
				t.Errorf("%s: code %d, %s %s", format, code, out, errOut)
			}
		}
	})
	t.Run("ATT-6 what --memory costs is said", func(t *testing.T) {
		var many strings.Builder
		for i := range 20_000 {
			many.WriteString(strings.ReplaceAll(eventLine, "4711", strconv.Itoa(i+2)))
		}
		for memory, want := range map[string]bool{"1": true, "256": false} {
			_, _, errOut := command(t, many.String(), "attribute", "--audit", audit, "--events", "-", "--memory", memory)
			if strings.Contains(errOut, "memory bound: ") != want {
				t.Errorf("--memory %s: %q", memory, errOut)
			}
		}
	})
	t.Run("ATT-15 two logs behind each other in one file are told, with what to do", func(t *testing.T) {
		earlier := strings.ReplaceAll(eventLine, "T04:10", "T03:10")
		_, _, both := command(t, "", args("--events", file(t, eventLine+eventLine+earlier))...)
		_, _, apart := command(t, "", args("--events", file(t, eventLine+eventLine)+","+file(t, earlier))...)
		if !strings.Contains(both, "3 lines used, 0 ignored, 0 faulted, 1 out of order by up to 1h0m0s") || !strings.Contains(both, "give each log as a file") || strings.Contains(apart, "out of order") {
			t.Errorf("%s\n%s", both, apart)
		}
	})
	t.Run("ATT-8 ATT-10 interrupted before the end of the logs is a fault, not an answer of nothing", func(t *testing.T) {
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		var errOut bytes.Buffer
		if code := run(ctx, args(), streams{strings.NewReader(""), io.Discard, &errOut}); code != exitFaults || !strings.Contains(errOut.String(), "not read to their end") {
			t.Errorf("exit code %d: %s", code, &errOut)
		}
	})
	t.Run("ATT-9 a page that is full is written and its rest a fault", func(t *testing.T) {
		var events strings.Builder
		for i := range report.MaxPageEvents + 1 {
			events.WriteString(strings.Replace(eventLine, `"-c","id"`, fmt.Sprintf(`"-c","id %d"`, i), 1))
		}
		many := events.String()
		code, out, errOut := command(t, many, "attribute", "--audit", audit, "--events", "-", "-o", "html", "--memory", "1024")
		if code != exitFaults || !strings.HasSuffix(out, "</html>\n") || !strings.Contains(errOut, report.ErrPageFull.Error()) {
			t.Errorf("exit code %d, %d bytes: %s", code, len(out), errOut)
		}
	})
	t.Run("no value of an environment is in any output", func(t *testing.T) {
		withEnv := strings.ReplaceAll(auditLine, "command=sh", "command=sh\\u0026env=TOKEN%3Dhunter2")
		tetragon := `{"process_exec":{"process":{"exec_id":"a","pid":4711,"binary":"/bin/sh","flags":"execve clone","start_time":"2026-11-21T04:10:00.25Z","pod":{"namespace":"shop","name":"web-0","container":{"id":"containerd://8762eafc25a3","name":"app"}},"docker":"8762eafc25a3","environment_variables":[{"Key":"TOKEN","Value":"hunter2"},{"Key":"KUBERNETES_EXEC_AUDIT_ID","Value":"id-a"}]}},"node_name":"n1","time":"2026-11-21T04:10:00.25Z"}`
		for _, format := range []string{"table", "json", "html"} {
			code, out, errOut := command(t, tetragon, "attribute", "--audit", file(t, withEnv), "--journal", journal, "--events", "-", "-o", format)
			if code != exitMatched || strings.Contains(out+errOut, "hunter2") || !strings.Contains(out, "alice") {
				t.Errorf("%s: exit code %d: %s%s", format, code, out, errOut)
			}
		}
	})
	t.Run("ATT-9 a full disk is an error", func(t *testing.T) {
		code := run(context.Background(), args(), streams{strings.NewReader(""), full{}, io.Discard})
		if code != exitFaults {
			t.Errorf("exit code %d", code)
		}
	})
}

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("no space left on device") }

func TestFollow(t *testing.T) {
	t.Run("ATT-3 files are followed and answered when their window has passed", func(t *testing.T) {
		audit, events, journal := file(t, auditLine), file(t, ""), file(t, intent)
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		r, w := io.Pipe()
		code := make(chan int)
		go func() {
			defer w.Close()
			code <- run(ctx, []string{"attribute", "--audit", audit, "--journal", journal, "--events", events, "--follow", "-o", "json", "--window", "1s"}, streams{nil, w, io.Discard})
		}()
		f, err := os.OpenFile(events, os.O_APPEND|os.O_WRONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.WriteString(eventLine); err != nil {
			t.Fatal(err)
		}
		var line struct{ User string }
		if err := json.NewDecoder(r).Decode(&line); err != nil || line.User != "alice" {
			t.Errorf("answer %+v, %v", line, err)
		}
		cancel()
		go func() { _, _ = io.Copy(io.Discard, r) }()
		select {
		case c := <-code:
			if c != exitMatched {
				t.Errorf("exit code %d", c)
			}
		case <-time.After(20 * time.Second):
			t.Fatal("did not end")
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
	})
}

func TestRedact(t *testing.T) {
	t.Run("EXA-28 env values are taken out of logs, plain and in JSON", func(t *testing.T) {
		in := "GET \"/exec/a/b?command=sh&env=A=hunter2&tty=1\" 200\n" + `{"requestURI":"/exec?env=B%3Dhunter2\u0026command=id","x":"what?"}` + "\nplain, no query"
		code, out, _ := command(t, in, "redact")
		if code != 0 || strings.Contains(out, "hunter2") || !strings.Contains(out, "command=sh&env=A=[redacted]&tty=1\" 200\n") ||
			!strings.Contains(out, `\u0026command=id","x":"what?"}`) || !strings.HasSuffix(out, "plain, no query") {
			t.Errorf("code %d, out %s", code, out)
		}
	})
	t.Run("EXA-28 a line that is too long to be sure of ends it", func(t *testing.T) {
		in := "/exec?env=A=hunter2\n" + strings.Repeat("x", lines.MaxLineBytes) + "?env=B=hunter2\n"
		code, out, errOut := command(t, in, "redact")
		if code != exitFaults || out != "/exec?env=A=[redacted]\n" || !strings.Contains(errOut, "standard input:2: line over 4194304 bytes") {
			t.Errorf("code %d, %d bytes out, %s", code, len(out), errOut)
		}
	})
}
