package webhook

import (
	"bufio"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/lanyard-dev/lanyard/execaudit/bridge/sessions"
	"github.com/lanyard-dev/lanyard/execaudit/journal"
)

// writerVariable has this program append lines to the file that it names, until it is killed.
const writerVariable = "LANYARD_TEST_LINES"

func TestMain(m *testing.M) {
	if name := os.Getenv(writerVariable); name != "" {
		fmt.Fprintln(os.Stderr, writeOn(name))
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// writeOn appends lines from many goroutines, and says of each when it is written.
func writeOn(name string) error {
	f, err := openLines(name, true, rotation{bytes: 60})
	if err != nil {
		return err
	}
	failed := make(chan error)
	f.unrotated = func(err error) { failed <- err }
	for i := range 4 {
		go func() {
			for n := 0; ; n++ {
				line := fmt.Sprintf("%d-%d-%d\n", os.Getpid(), i, n)
				if err := f.append([]byte(line)); err != nil {
					failed <- err
				}
				if _, err := os.Stdout.WriteString(line); err != nil {
					failed <- err
				}
			}
		}()
	}
	return <-failed
}

// linesOf are the lines of the file and of those that were rotated away, oldest first, and these files' names.
func linesOf(t *testing.T, name string) (lines, files []string) {
	t.Helper()
	files, err := journal.Files(name)
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			lines = append(lines, line)
		}
	}
	return lines, files
}

// counted says how often each line is there.
func counted(lines []string) map[string]int {
	times := map[string]int{}
	for _, line := range lines {
		times[line]++
	}
	return times
}

func TestRotation(t *testing.T) {
	fill := func(t *testing.T, f *lineFile, from, to int) {
		t.Helper()
		for i := from; i < to; i++ {
			if err := f.append(fmt.Appendf(nil, "line %02d\n", i)); err != nil {
				t.Fatal(err)
			}
		}
	}
	openIn := func(t *testing.T, r rotation) *lineFile {
		t.Helper()
		f, err := openLines(filepath.Join(t.TempDir(), "records"), true, r)
		if err != nil {
			t.Fatal(err)
		}
		f.unrotated = func(err error) { t.Error(err) }
		t.Cleanup(func() { _ = f.close() })
		return f
	}
	t.Run("BRG-12 no file is larger than asked, and the newest are kept", func(t *testing.T) {
		f := openIn(t, rotation{bytes: 3 * 8, keep: 2})
		fill(t, f, 0, 20)
		lines, files := linesOf(t, f.name)
		if len(files) != 3 || filepath.Base(files[0]) != "records.00000005" || len(lines) != 3+3+2 {
			t.Fatalf("%q: %q", files, lines)
		}
		for i, line := range lines {
			if want := fmt.Sprintf("line %02d\n", 12+i); line != want {
				t.Fatalf("%q, want %q", line, want)
			}
		}
		if info, err := os.Stat(files[0]); err != nil || info.Mode().Perm() != 0o600 || info.Size() > 24 {
			t.Fatalf("%v, %v", info, err)
		}
	})
	t.Run("BRG-12 a restart goes on with file and numbers", func(t *testing.T) {
		f := openIn(t, rotation{bytes: 16})
		fill(t, f, 0, 5)
		again, err := openLines(f.name, true, f.rotation)
		if err != nil {
			t.Fatal(err)
		}
		defer again.close()
		fill(t, again, 5, 9)
		if lines, files := linesOf(t, f.name); len(lines) != 9 || len(files) != 5 || len(counted(lines)) != 9 {
			t.Fatalf("%q: %q", files, lines)
		}
	})
	t.Run("BRG-12 a number is not used again when the rotated files are shipped off", func(t *testing.T) {
		f := openIn(t, rotation{bytes: 8})
		fill(t, f, 0, 3)
		for _, n := range []string{".00000001", ".00000002"} {
			if err := os.Remove(f.name + n); err != nil {
				t.Fatal(err)
			}
		}
		fill(t, f, 3, 4)
		if _, files := linesOf(t, f.name); len(files) != 2 || files[0] != f.name+".00000003" {
			t.Fatalf("%q", files)
		}
	})
	t.Run("BRG-12 lines that are larger than a file have one of their own", func(t *testing.T) {
		f := openIn(t, rotation{bytes: 10})
		long := strings.Repeat("x", 100) + "\n"
		fill(t, f, 0, 1)
		if err := f.append([]byte(long)); err != nil {
			t.Fatal(err)
		}
		fill(t, f, 1, 2)
		if lines, files := linesOf(t, f.name); len(files) != 3 || strings.Join(lines, "") != "line 00\n"+long+"line 01\n" {
			t.Fatalf("%q: %q", files, lines)
		}
	})
	t.Run("BRG-6 after a kill between the two renames a new file is made", func(t *testing.T) {
		f := openIn(t, rotation{bytes: 16})
		fill(t, f, 0, 4)
		if err := errors.Join(os.Rename(f.name, f.name+".00000002"), os.WriteFile(f.name+newSuffix, nil, 0o600)); err != nil {
			t.Fatal(err)
		}
		again, err := openLines(f.name, true, f.rotation)
		if err != nil {
			t.Fatal(err)
		}
		defer again.close()
		fill(t, again, 4, 8)
		if lines, files := linesOf(t, f.name); len(files) != 4 || len(lines) != 8 || len(counted(lines)) != 8 {
			t.Fatalf("%q: %q", files, lines)
		}
	})
	t.Run("BRG-12 0 bytes never rotates", func(t *testing.T) {
		f := openIn(t, rotation{keep: 1})
		fill(t, f, 0, 50)
		if lines, files := linesOf(t, f.name); len(files) != 1 || len(lines) != 50 {
			t.Fatalf("%q: %d lines", files, len(lines))
		}
	})
	t.Run("BRG-12 a file that somebody moved away is not moved again", func(t *testing.T) {
		f := openIn(t, rotation{bytes: 16})
		fill(t, f, 0, 2)
		if err := errors.Join(os.Rename(f.name, f.name+".theirs"), os.WriteFile(f.name, []byte("theirs\n"), 0o600)); err != nil {
			t.Fatal(err)
		}
		fill(t, f, 2, 3)
		theirs, err := os.ReadFile(f.name + ".theirs")
		if lines, files := linesOf(t, f.name); err != nil || string(theirs) != "line 00\nline 01\n" || len(files) != 1 || strings.Join(lines, "") != "theirs\nline 02\n" {
			t.Fatalf("%q, %q: %q, %v", theirs, files, lines, err)
		}
	})
	t.Run("BRG-6 what cannot be rotated grows, is told once, and loses nothing", func(t *testing.T) {
		f := openIn(t, rotation{bytes: 8, keep: 1})
		told := 0
		f.unrotated = func(error) { told++ }
		if err := os.MkdirAll(filepath.Join(f.name+newSuffix, "in the way"), 0o700); err != nil {
			t.Fatal(err)
		}
		fill(t, f, 0, 4)
		if lines, files := linesOf(t, f.name); told != 1 || len(files) != 1 || len(lines) != 4 {
			t.Fatalf("told %d times; %q: %q", told, files, lines)
		}
		if err := os.RemoveAll(f.name + newSuffix); err != nil {
			t.Fatal(err)
		}
		fill(t, f, 4, 5)
		if lines, files := linesOf(t, f.name); len(files) != 2 || len(lines) != 5 {
			t.Fatalf("%q: %q", files, lines)
		}
	})
}

func TestRotationAtOnce(t *testing.T) {
	t.Run("BRG-12 of many reviews and audit events at once each is in one file", func(t *testing.T) {
		const each, at = 12, 8
		r := newRig(t)
		r.options.RecordsBytes = 2000
		r.start()
		client := r.caller(nil)
		batch := []byte(`{"kind":"EventList","apiVersion":"audit.k8s.io/v1","items":[{"annotations":{"exec.lanyard.dev/session":"x"}}]}`)
		var wait sync.WaitGroup
		for range at {
			wait.Go(func() {
				for range each {
					if response, err := client.Post(r.serve+"/"+secretPath+"/mutate", "application/json", strings.NewReader(string(execReview(t, "cart", "id")))); err != nil {
						t.Error(err)
					} else if response.Body.Close() != nil || response.StatusCode != http.StatusOK {
						t.Errorf("status %d", response.StatusCode)
					}
					if response, err := client.Post(r.serve+"/"+secretPath+"/audit", "application/json", strings.NewReader(string(batch))); err != nil {
						t.Error(err)
					} else if response.Body.Close() != nil || response.StatusCode != http.StatusOK {
						t.Errorf("status %d", response.StatusCode)
					}
				}
			})
		}
		wait.Wait()
		if err := r.end(); err != nil {
			t.Fatal(err)
		}
		lines, files := linesOf(t, r.options.RecordsFile)
		seen := map[string]bool{}
		for record, err := range sessions.Read(strings.NewReader(strings.Join(lines, "")), "records") {
			if err != nil {
				t.Fatal(err)
			}
			seen[record.Session.String()] = true
		}
		if len(lines) != each*at || len(seen) != each*at || len(files) < 3 {
			t.Fatalf("%d records of %d sessions in %d files, want %d", len(lines), len(seen), len(files), each*at)
		}
		if events, files := linesOf(t, r.options.AuditFile); len(events) != each*at || len(files) < 3 {
			t.Fatalf("%d events in %d files, want %d", len(events), len(files), each*at)
		}
	})
}

func TestKilledInRotation(t *testing.T) {
	t.Run("BRG-6 a webhook that is killed in a rotation loses no record, and has none twice", func(t *testing.T) {
		name := filepath.Join(t.TempDir(), "records")
		var written []string
		for range 25 {
			c := exec.Command("/proc/self/exe")
			c.Env = append(os.Environ(), writerVariable+"="+name)
			c.Stderr = os.Stderr
			out, err := c.StdoutPipe()
			if err == nil {
				err = c.Start()
			}
			if err != nil {
				t.Fatal(err)
			}
			in := bufio.NewReader(out)
			// Every few lines there is a rotation, so that many kills hit one.
			for left := rand.IntN(40); ; left-- {
				if left == 0 {
					if err := c.Process.Signal(syscall.SIGKILL); err != nil {
						t.Fatal(err)
					}
				}
				line, err := in.ReadString('\n')
				if err != nil {
					break
				}
				written = append(written, line)
			}
			if err := c.Wait(); err == nil || c.ProcessState.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
				t.Fatalf("the writer ended by itself: %v", err)
			}
		}
		lines, files := linesOf(t, name)
		times := counted(lines)
		for _, line := range written {
			if times[line] != 1 {
				t.Errorf("%q is there %d times", line, times[line])
			}
		}
		for line, n := range times {
			if n > 1 || strings.Count(line, "-") != 2 && line != "\n" {
				t.Errorf("%q is there %d times", line, n)
			}
		}
		for i, file := range files[:len(files)-1] {
			if want := fmt.Sprintf("%s.%08d", name, i+1); file != want {
				t.Fatalf("%s, want %s", file, want)
			}
		}
	})
}
