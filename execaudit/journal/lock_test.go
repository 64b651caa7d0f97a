//go:build unix && !aix && !solaris

package journal_test

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/lanyard-dev/lanyard/execaudit/journal"
)

// journalOfChild names the journal that this program opens and holds instead of testing.
const journalOfChild = "JOURNAL_TEST_HOLD"

func TestMain(m *testing.M) {
	if path := os.Getenv(journalOfChild); path != "" {
		hold(path)
	}
	os.Exit(m.Run())
}

// hold opens the journal, says how that went and waits to be killed.
func hold(path string) {
	w, err := journal.Open(path, journal.Options{})
	fmt.Println(err)
	if err == nil {
		err = w.Append(journal.Intent(session, nil, false, at))
		fmt.Println(err)
	}
	_, _ = os.Stdin.Read(make([]byte, 1)) // which ends with the test, at the latest
	os.Exit(0)
}

// startHolder returns another process that was told to open the journal, and what it says.
func startHolder(t *testing.T, path string) (*exec.Cmd, *bufio.Scanner) {
	t.Helper()
	c := exec.Command(os.Args[0])
	c.Env = append(os.Environ(), journalOfChild+"="+path)
	if _, err := c.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = c.Process.Kill()
		_ = c.Wait()
	})
	return c, bufio.NewScanner(out)
}

func says(lines *bufio.Scanner) string {
	lines.Scan()
	return lines.Text()
}

func TestOneWriter(t *testing.T) {
	t.Run("EXA-39 a second writer in the process is refused until the first is closed", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "journal")
		first := openJournal(t, path)
		mustRefuse(t, path, journal.ErrInUse)
		mustAppend(t, first, journal.Intent(session, nil, false, at))
		mustRefuse(t, path, journal.ErrInUse) // a refused one does not take the lock along
		if err := first.Close(); err != nil {
			t.Fatal(err)
		}
		appendTo(t, path, journal.Start(session, process, at))
		if records, faults := readAll(t, mustRead(t, path)); len(records) != 2 || faults != nil {
			t.Errorf("read %v, %v", records, faults)
		}
	})
	t.Run("EXA-39 a second writer is refused under another spelling of the path", func(t *testing.T) {
		dir := t.TempDir()
		openJournal(t, filepath.Join(dir, "journal"))
		link := filepath.Join(t.TempDir(), "link")
		if err := os.Symlink(dir, link); err != nil {
			t.Fatal(err)
		}
		mustRefuse(t, filepath.Join(link, "journal"), journal.ErrInUse)
	})
	t.Run("EXA-39 a second process is refused, and a killed one leaves no lock", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "journal")
		first, lines := startHolder(t, path)
		if opened, appended := says(lines), says(lines); opened != "<nil>" || appended != "<nil>" {
			t.Fatalf("the first process: %s, %s", opened, appended)
		}
		mustRefuse(t, path, journal.ErrInUse)
		if err := first.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = first.Wait() // it was killed
		w := openJournal(t, path)
		mustAppend(t, w, journal.Start(session, process, at))
		_, refused := startHolder(t, path)
		if got := says(refused); got != fmt.Sprintf("%v: %s", journal.ErrInUse, path) {
			t.Errorf("the second process: %s", got)
		}
		if records, faults := readAll(t, mustRead(t, path)); len(records) != 2 || faults != nil {
			t.Errorf("read %v, %v", records, faults)
		}
	})
	t.Run("EXA-39 a journal that was renamed and its successor have a writer each", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "journal")
		old := openJournal(t, path)
		if err := os.Rename(path, path+".1"); err != nil {
			t.Fatal(err)
		}
		successor := openJournal(t, path)
		mustAppend(t, old, journal.Intent(session, nil, false, at))
		mustAppend(t, successor, journal.Start(session, process, at))
		for _, name := range []string{path, path + ".1"} {
			if records, faults := readAll(t, mustRead(t, name)); len(records) != 1 || faults != nil {
				t.Errorf("%s: read %v, %v", filepath.Base(name), records, faults)
			}
		}
	})
}
