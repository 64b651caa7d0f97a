package main

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// stale writes a JUnit file that says that all is well, as an earlier run may have left it, and returns its path.
func stale(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "junit.xml")
	if err := os.WriteFile(path, []byte(`<testsuite tests="1" failures="0" errors="0"><testcase name="x"></testcase></testsuite>`), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// junitErrors returns the messages of the errors in a JUnit file.
func junitErrors(t *testing.T, path string) (messages []string) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		Errors int `xml:"errors,attr"`
		Cases  []struct {
			Error *struct {
				Message string `xml:"message,attr"`
			} `xml:"error"`
		} `xml:"testcase"`
	}
	if err := xml.Unmarshal(data, &got); err != nil {
		t.Fatal(err)
	}
	for _, c := range got.Cases {
		if c.Error != nil {
			messages = append(messages, c.Error.Message)
		}
	}
	if len(messages) != got.Errors {
		t.Errorf("%d errors, the file says %d", len(messages), got.Errors)
	}
	return messages
}

func TestRunThatCouldNotStart(t *testing.T) {
	nowhere := []string{"--runtime-endpoint", "unix://" + filepath.Join(t.TempDir(), "none"), "--images", "localhost/x"}
	t.Run("CON-11 text", func(t *testing.T) {
		code, out, errs := runTool(t, nowhere...)
		if code != 2 || !strings.Contains(out, "\nerror  ") || !strings.Contains(out, "1 errors") || !strings.HasPrefix(errs, "criconformance: ask the runtime") {
			t.Errorf("exit code %d, stderr %q\n%s", code, errs, out)
		}
	})
	for name, args := range map[string][]string{
		"no socket":       nowhere,
		"no endpoint":     {},
		"a wrong feature": append([]string{"--require", "x"}, nowhere...),
		"a wrong regexp":  append([]string{"--focus", "("}, nowhere...),
		"no case":         append([]string{"--focus", "nothing"}, nowhere...),
	} {
		t.Run("CON-11 JSON: "+name, func(t *testing.T) {
			code, out, _ := runTool(t, append([]string{"-o", "json"}, args...)...)
			var report struct{ Error string }
			if err := json.Unmarshal([]byte(out), &report); code != 2 || err != nil || report.Error == "" {
				t.Errorf("exit code %d, %v\n%s", code, err, out)
			}
		})
		t.Run("CON-11 JUnit, over an older file that is green: "+name, func(t *testing.T) {
			path := stale(t)
			code, _, _ := runTool(t, append([]string{"--junit", path}, args...)...)
			if got := junitErrors(t, path); code != 2 || len(got) != 1 {
				t.Errorf("exit code %d, errors %q", code, got)
			}
		})
	}
	t.Run("CON-11 JUnit, over an older file that is green: a wrong output", func(t *testing.T) {
		path := stale(t)
		code, _, _ := runTool(t, append([]string{"--junit", path, "-o", "xml"}, nowhere...)...)
		if got := junitErrors(t, path); code != 2 || len(got) != 1 {
			t.Errorf("exit code %d, errors %q", code, got)
		}
	})
}

var errFull = errors.New("no space left")

// full takes nothing.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, errFull }

func TestReportThatCannotBeWritten(t *testing.T) {
	nowhere := []string{"--runtime-endpoint", "unix://" + filepath.Join(t.TempDir(), "none"), "--images", "localhost/x"}
	t.Run("CON-11 the JUnit file is written when standard output is not", func(t *testing.T) {
		path := stale(t)
		var errs bytes.Buffer
		code := run(t.Context(), append([]string{"--junit", path}, nowhere...), full{}, &errs)
		if got := junitErrors(t, path); code != 2 || !strings.Contains(errs.String(), errFull.Error()) || len(got) != 1 {
			t.Errorf("exit code %d, errors %q, stderr %s", code, got, errs.String())
		}
	})
	t.Run("CON-11 a JUnit file that cannot be made is known before the run", func(t *testing.T) {
		code, out, errs := runTool(t, append([]string{"--junit", filepath.Join(t.TempDir(), "none", "x.xml")}, nowhere...)...)
		if code != 2 || out != "" || !strings.Contains(errs, "x.xml") || strings.Contains(errs, "ask the runtime") {
			t.Errorf("exit code %d, stdout %q, stderr %q", code, out, errs)
		}
	})
	t.Run("CON-11 --list", func(t *testing.T) {
		var errs bytes.Buffer
		if code := run(t.Context(), []string{"--list"}, full{}, &errs); code != 2 || !strings.Contains(errs.String(), errFull.Error()) {
			t.Errorf("exit code %d, stderr %s", code, errs.String())
		}
	})
}

// refusing serves gRPC that refuses every call in the words of the test, and first calls before.
func refusing(t *testing.T, words string, before func()) (endpoint string) {
	t.Helper()
	dir, err := os.MkdirTemp("", "cri")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	l, err := net.Listen("unix", filepath.Join(dir, "s"))
	if err != nil {
		t.Fatal(err)
	}
	s := &http.Server{Protocols: new(http.Protocols), Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		before()
		w.Header().Set("Content-Type", "application/grpc")
		w.Header().Set("Grpc-Status", "7") // permission denied
		w.Header().Set("Grpc-Message", url.PathEscape(words))
	})}
	s.Protocols.SetUnencryptedHTTP2(true)
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(l) }()
	t.Cleanup(func() { s.Close(); <-ended })
	return "unix://" + filepath.Join(dir, "s")
}

func TestRefusingRuntime(t *testing.T) {
	t.Run("CON-8 what a runtime says does not drive the terminal, on standard error neither", func(t *testing.T) {
		code, out, errs := runTool(t, "--runtime-endpoint", refusing(t, "no\x1b[2J\rno\u009b", func() {}), "--images", "localhost/x")
		if code != 2 || !strings.Contains(errs, "no") || strings.ContainsAny(out+errs, "\x1b\r\u009b") {
			t.Errorf("exit code %d, stdout %q, stderr %q", code, out, errs)
		}
	})
	t.Run("CON-11 while it runs the JUnit file says that it has not ended, for a run that is killed", func(t *testing.T) {
		path := stale(t)
		var during []string
		runTool(t, "--junit", path, "--images", "localhost/x", "--runtime-endpoint", refusing(t, "no", func() {
			if during == nil {
				during = junitErrors(t, path)
			}
		}))
		if len(during) != 1 || !strings.Contains(during[0], "has not ended") {
			t.Errorf("errors during the run %q", during)
		}
		if after := junitErrors(t, path); len(after) != 1 || strings.Contains(after[0], "has not ended") {
			t.Errorf("errors after the run %q", after)
		}
	})
}
