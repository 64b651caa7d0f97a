package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write what the commands of the investigation print into its page, and take its picture")

const (
	investigation = "../../../docs/execaudit-investigation.md"
	evidence      = "testdata/investigation"
)

// TestMain lets this program be the command for the page's shell lines.
func TestMain(m *testing.M) {
	if filepath.Base(os.Args[0]) == "execaudit" {
		main()
	}
	os.Exit(m.Run())
}

// shell runs lines in the directory of the evidence, with the command in its path.
type shell struct{ bin string }

func newShell(t *testing.T) shell {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	bin := t.TempDir()
	if err := os.Symlink(self, filepath.Join(bin, "execaudit")); err != nil {
		t.Skip(err)
	}
	return shell{bin}
}

func (s shell) run(t *testing.T, line string) string {
	t.Helper()
	cmd := exec.Command("sh", "-c", line)
	cmd.Dir, cmd.Env = evidence, append(os.Environ(), "PATH="+s.bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	out, err := cmd.CombinedOutput()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) { // the code is for the line to print
		t.Fatal(err)
	}
	return string(out)
}

// commands calls f for each line behind "$ " of a page's console blocks, and returns the page with f's results as their
// output.
func commands(page string, f func(line string) string) string {
	var out strings.Builder
	inside := false
	for line := range strings.Lines(page) {
		switch command, isCommand := strings.CutPrefix(line, "$ "); {
		case strings.HasPrefix(line, "```"):
			inside = line == "```console\n"
			out.WriteString(line)
		case inside && isCommand:
			out.WriteString(line + f(strings.TrimSpace(command)))
		case !inside:
			out.WriteString(line)
		}
	}
	return out.String()
}

func TestInvestigation(t *testing.T) {
	page, err := os.ReadFile(investigation)
	if errors.Is(err, fs.ErrNotExist) {
		t.Skip("the documentation is in the repository, not in the module")
	}
	if err != nil {
		t.Fatal(err)
	}
	sh := newShell(t)
	t.Run("ATT-4 ATT-5 ATT-8 ATT-10 the commands of the investigation print what its page says", func(t *testing.T) {
		printed := commands(string(page), func(line string) string {
			out := sh.run(t, line)
			if !*update && !strings.Contains(string(page), "$ "+line+"\n"+out+"```\n") {
				t.Errorf("%s\nprints\n%s", line, out)
			}
			return out
		})
		if !*update {
			return
		}
		if err := os.WriteFile(investigation, []byte(printed), 0o644); err != nil {
			t.Fatal(err)
		}
		picture(t, sh)
	})
}

// picture takes the page's picture: the report, open at the session that forged.
func picture(t *testing.T, sh shell) {
	t.Helper()
	browser, err := exec.LookPath("chromium")
	if err != nil {
		t.Skip("no new picture: chromium is not installed")
	}
	const logs = "execaudit attribute --audit audit.log --events events.jsonl --journal exec-journal.jsonl "
	report := filepath.Join(t.TempDir(), "who.html")
	if err := os.WriteFile(report, []byte(sh.run(t, logs+"-o html 2>/dev/null")), 0o600); err != nil {
		t.Fatal(err)
	}
	var forged struct{ AuditID string }
	if err := json.Unmarshal([]byte(sh.run(t, logs+"--command 'wc -l' -o json 2>/dev/null | tail -n 1")), &forged); err != nil {
		t.Fatal(err)
	}
	to, err := filepath.Abs(strings.TrimSuffix(investigation, ".md") + ".png")
	if err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(browser, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--user-data-dir="+t.TempDir(),
		"--window-size=1280,700", "--screenshot="+to, "file://"+report+"#session="+forged.AuditID).CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, bytes.TrimSpace(out))
	}
}
