package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/lanyard-dev/lanyard/execaudit/journal"
)

func TestJournalVerify(t *testing.T) {
	dir := t.TempDir()
	path, keyFile := filepath.Join(dir, "journal"), filepath.Join(dir, "key")
	code, out, errOut := command(t, "", "journal", "keys", keyFile)
	if key, err := journal.ParseKey(out); code != 0 || err != nil || key.ID() == "" {
		t.Fatalf("EXA-39 keys: code %d, %s%s", code, out, errOut)
	}
	key := file(t, out)
	w, err := journal.Open(path, journal.Options{KeyFile: keyFile})
	if err != nil {
		t.Fatal(err)
	}
	session := journal.Session{Node: "n1", ContainerID: "c1", ExecID: "e1"}
	for range 3 {
		if err := w.Append(journal.Intent(session, []string{"hunter2"}, false, time.Now())); err != nil {
			t.Fatal(err)
		}
		if err := w.Rotate(); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	args := func(more ...string) []string { return append([]string{"journal", "verify", path}, more...) }
	t.Run("EXA-39 a second key file is not made over the first", func(t *testing.T) {
		if code, out, _ := command(t, "", "journal", "keys", keyFile); code != exitFaults || out != "" {
			t.Errorf("code %d, out %s", code, out)
		}
	})
	t.Run("EXA-39 a journal that nobody changed, in text", func(t *testing.T) {
		code, out, errOut := command(t, "", args("--key", key, "--key-file", keyFile)...)
		if code != 0 || !strings.Contains(out, "trusted: 3 records, up to line ") || !strings.Contains(out, "(close)") || !strings.Contains(out, "read: 4 files from number 1 on") {
			t.Errorf("code %d, %s%s", code, out, errOut)
		}
	})
	t.Run("EXA-39 without a key nothing is trusted, and it is said", func(t *testing.T) {
		if code, out, _ := command(t, "", args()...); code != 0 || !strings.Contains(out, "trusted: nothing; without a key") {
			t.Errorf("code %d, %s", code, out)
		}
	})
	t.Run("EXA-39 usage", func(t *testing.T) {
		for _, wrong := range [][]string{{"journal"}, {"journal", "verify"}, {"journal", "keys"}, args("-o", "yaml"), args("--until", "noon"), args("x")} {
			if code, _, errOut := command(t, "", wrong...); code != exitUsage {
				t.Errorf("%v: code %d, %s", wrong, code, errOut)
			}
		}
	})
	t.Run("EXA-39 what cannot be read is a fault, and a key is not repeated", func(t *testing.T) {
		for _, wrong := range [][]string{
			{"journal", "verify", filepath.Join(dir, "none")},
			args("--key", filepath.Join(dir, "none")), args("--key", file(t, "journal-verify-1:hunter2\n")),
			args("--key", file(t, "")), args("--key", key, "--key-file", path),
		} {
			if code, out, errOut := command(t, "", wrong...); code != exitFaults || errOut == "" || strings.Contains(out+errOut, "hunter2") {
				t.Errorf("%v: code %d, %s", wrong, code, errOut)
			}
		}
	})
	t.Run("EXA-39 a changed record is found, as JSON, with the place up to which the rest is trusted", func(t *testing.T) {
		changed := path + ".00000002"
		text, err := os.ReadFile(changed)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(changed, []byte(strings.Replace(string(text), "hunter2", "hunter3", 1)), 0o600); err != nil {
			t.Fatal(err)
		}
		code, out, _ := command(t, "", args("--key", key, "-o", "json")...)
		var line verifyLine
		if err := json.Unmarshal([]byte(out), &line); err != nil {
			t.Fatal(err)
		}
		if code != exitFaults || line.OK || len(line.Breaks) != 1 || line.Breaks[0].File != changed || line.Trusted == nil || line.Trusted.Records != 1 || line.Trusted.File != changed ||
			strings.Contains(out, "hunter") {
			t.Errorf("code %d, %s", code, out)
		}
		if code, out, _ := command(t, "", args("--key", key)...); code != exitFaults || !strings.Contains(out, "broken: "+changed+":4: the line does not follow") {
			t.Errorf("code %d, %s", code, out)
		}
	})
	t.Run("EXA-39 until the host was taken", func(t *testing.T) {
		if code, out, _ := command(t, "", args("--key", key, "--until", "2020-01-01T00:00:00Z")...); code != exitFaults || !strings.Contains(out, "trusted: nothing; no seal holds") {
			t.Errorf("code %d, %s", code, out)
		}
	})
}
