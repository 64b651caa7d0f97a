package lines_test

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
	"pgregory.net/rapid"

	"github.com/lanyard-dev/lanyard/execaudit/agent/cmd/execaudit-agent/internal/lines"
	"github.com/lanyard-dev/lanyard/execaudit/journal"
)

// writerVariable has this program append lines to the file that it names, until it is killed.
const writerVariable = "LANYARD_TEST_LINES"

// writerNumber tells one such program's lines from another's.
const writerNumber = "LANYARD_TEST_WRITER"

func TestMain(m *testing.M) {
	if name := os.Getenv(writerVariable); name != "" {
		fmt.Fprintln(os.Stderr, writeOn(name))
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// writeOn appends batches of lines, and says of each when it is written.
func writeOn(name string) error {
	f, err := lines.Open(name, lines.Rotation{Bytes: 500})
	if err != nil {
		return err
	}
	number := os.Getenv(writerNumber)
	for n := 0; ; n++ {
		batch := fmt.Sprintf("%s-%d-a\n%s-%d-b\n", number, n, number, n)
		if err := errors.Join(f.Append([]byte(batch)), f.Rotated()); err != nil {
			return err
		}
		if _, err := os.Stdout.WriteString(batch); err != nil {
			return err
		}
	}
}

// linesOf are the lines of the file and of those that were rotated away, oldest first, and these files' names.
func linesOf(t testing.TB, name string) (all, files []string) {
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
			all = append(all, line)
		}
	}
	return all, files
}

func open(t testing.TB, name string, r lines.Rotation) *lines.File {
	t.Helper()
	f, err := lines.Open(name, r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	return f
}

func fill(t testing.TB, f *lines.File, from, to int) {
	t.Helper()
	for i := from; i < to; i++ {
		if err := errors.Join(f.Append(fmt.Appendf(nil, "line %02d\n", i)), f.Rotated()); err != nil {
			t.Fatal(err)
		}
	}
}

func TestRotation(t *testing.T) {
	t.Run("AGT-6 no file is larger than asked, and the newest are kept", func(t *testing.T) {
		name := filepath.Join(t.TempDir(), "events.jsonl")
		fill(t, open(t, name, lines.Rotation{Bytes: 3 * 8, Keep: 2}), 0, 20)
		got, files := linesOf(t, name)
		if len(files) != 3 || files[0] != name+".00000005" || len(got) != 3+3+2 {
			t.Fatalf("%q: %q", files, got)
		}
		for i, line := range got {
			if want := fmt.Sprintf("line %02d\n", 12+i); line != want {
				t.Fatalf("%q, want %q", line, want)
			}
		}
		if info, err := os.Stat(files[0]); err != nil || info.Mode().Perm() != 0o600 || info.Size() > 24 {
			t.Fatalf("%v, %v", info, err)
		}
	})
	t.Run("AGT-6 a restart goes on with file and numbers", func(t *testing.T) {
		name := filepath.Join(t.TempDir(), "events.jsonl")
		first := open(t, name, lines.Rotation{Bytes: 16})
		fill(t, first, 0, 5)
		if err := first.Close(); err != nil {
			t.Fatal(err)
		}
		fill(t, open(t, name, lines.Rotation{Bytes: 16}), 5, 9)
		if got, files := linesOf(t, name); len(got) != 9 || len(files) != 5 {
			t.Fatalf("%q: %q", files, got)
		}
	})
	t.Run("AGT-6 a file that somebody moved away is made anew", func(t *testing.T) {
		name := filepath.Join(t.TempDir(), "events.jsonl")
		f := open(t, name, lines.Rotation{})
		fill(t, f, 0, 2)
		if err := os.Rename(name, name+".away"); err != nil {
			t.Fatal(err)
		}
		fill(t, f, 2, 3)
		if got, _ := linesOf(t, name); len(got) != 1 || got[0] != "line 02\n" {
			t.Fatalf("%q", got)
		}
	})
	t.Run("AGT-6 a file that cannot be rotated goes on", func(t *testing.T) {
		name := filepath.Join(tmpfs(t, "nr_inodes=2"), "events.jsonl") // the root's and the file's
		f := open(t, name, lines.Rotation{Bytes: 8})
		fill(t, f, 0, 1)
		if err := f.Append([]byte("line 01\n")); err != nil || !errors.Is(f.Rotated(), unix.ENOSPC) {
			t.Fatalf("Append(…) = %v, Rotated() = %v, want %v", err, f.Rotated(), unix.ENOSPC)
		}
		if got, files := linesOf(t, name); len(got) != 2 || len(files) != 1 {
			t.Errorf("%q: %q", files, got)
		}
	})
	t.Run("AGT-6 a directory that is not there is made, for its owner alone", func(t *testing.T) {
		name := filepath.Join(t.TempDir(), "log", "lanyard", "events.jsonl")
		fill(t, open(t, name, lines.Rotation{}), 0, 1)
		if info, err := os.Stat(filepath.Dir(name)); err != nil || info.Mode().Perm() != 0o700 {
			t.Errorf("%v, %v", info, err)
		}
	})
	t.Run("AGT-6 a file that is closed takes nothing", func(t *testing.T) {
		f := open(t, filepath.Join(t.TempDir(), "events.jsonl"), lines.Rotation{})
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
		if err := f.Append([]byte("x\n")); !errors.Is(err, os.ErrClosed) {
			t.Errorf("Append(…) = %v, want %v", err, os.ErrClosed)
		}
	})
}

func TestTorn(t *testing.T) {
	t.Run("AGT-6 a line that a kill left unfinished is ended, and the next one stands by itself", func(t *testing.T) {
		name := filepath.Join(t.TempDir(), "events.jsonl")
		if err := os.WriteFile(name, []byte("whole\nhal"), 0o600); err != nil {
			t.Fatal(err)
		}
		fill(t, open(t, name, lines.Rotation{}), 0, 1)
		if got, _ := linesOf(t, name); strings.Join(got, "|") != "whole\n|hal\n|line 00\n" {
			t.Errorf("%q", got)
		}
	})
	t.Run("AGT-6 AGT-2 killed fifty times: every line that was acknowledged is there once, and none in two pieces", func(t *testing.T) {
		name := filepath.Join(t.TempDir(), "events.jsonl")
		acknowledged := 0
		kills := 50
		if testing.Short() {
			kills = 5
		}
		var told []string
		for kill := range kills {
			writer := exec.Command(os.Args[0])
			writer.Env = append(os.Environ(), writerVariable+"="+name, fmt.Sprint(writerNumber, "=", kill))
			out, err := writer.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := writer.Start(); err != nil {
				t.Fatal(err)
			}
			scanner := bufio.NewScanner(out)
			for i := 0; scanner.Scan(); i++ {
				told = append(told, scanner.Text()+"\n")
				acknowledged++
				if i == kill {
					if err := writer.Process.Signal(syscall.SIGKILL); err != nil {
						t.Fatal(err)
					}
				}
			}
			_ = writer.Wait()
		}
		got, _ := linesOf(t, name)
		times := map[string]int{}
		for _, line := range got {
			if times[line]++; times[line] > 1 {
				t.Errorf("%q is there twice", line)
			}
			if !strings.HasSuffix(line, "\n") {
				t.Errorf("%q has no end", line)
			}
		}
		for _, line := range told {
			if times[line] != 1 {
				t.Errorf("%q is there %d times, want 1", line, times[line])
			}
		}
		t.Logf("%d lines acknowledged, %d there, %d kills", acknowledged, len(got), kills)
	})
}

// tmpfs mounts one until the test ends.
func tmpfs(t *testing.T, options string) string {
	t.Helper()
	dir := t.TempDir()
	if err := unix.Mount("lines", dir, "tmpfs", 0, options); err != nil {
		t.Skip("no file system of its own:", err)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(dir, unix.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return dir
}

func TestFullDisk(t *testing.T) {
	dir := tmpfs(t, "size=64k")
	name, ballast := filepath.Join(dir, "events.jsonl"), filepath.Join(dir, "ballast")
	f := open(t, name, lines.Rotation{})
	if err := os.WriteFile(ballast, make([]byte, 32<<10), 0o600); err != nil {
		t.Fatal(err)
	}
	var err error
	written := 0
	for ; err == nil && written < 1000; written++ {
		err = f.Append(fmt.Appendf(nil, "%06d %s\n", written, strings.Repeat("x", 500)))
	}
	t.Run("AGT-6 a full disk is an error, again and again, and no half line grows longer", func(t *testing.T) {
		if !errors.Is(err, unix.ENOSPC) {
			t.Fatalf("Append(…) = %v, want %v", err, unix.ENOSPC)
		}
		for range 3 {
			if err := f.Append([]byte("none\n")); !errors.Is(err, unix.ENOSPC) {
				t.Errorf("Append(…) = %v, want %v", err, unix.ENOSPC)
			}
		}
	})
	t.Run("AGT-6 when there is room again the line is finished, and what follows stands by itself", func(t *testing.T) {
		if err := os.Remove(ballast); err != nil {
			t.Fatal(err)
		}
		if err := f.Append([]byte("room again\n")); err != nil {
			t.Fatal(err)
		}
		got, _ := linesOf(t, name)
		for i, line := range got[:len(got)-1] {
			if len(line) != 508 || !strings.HasPrefix(line, fmt.Sprintf("%06d ", i)) {
				t.Errorf("line %d is %q", i, line)
			}
		}
		if last := got[len(got)-1]; last != "room again\n" {
			t.Errorf("the last line is %q", last)
		}
	})
}

// TestFileLaw: whatever the batches and the sizes, what is read back is what was appended, in order.
func TestFileLaw(t *testing.T) {
	dir := t.TempDir()
	n := 0
	rapid.Check(t, func(rt *rapid.T) {
		n++
		name := filepath.Join(dir, fmt.Sprint(n), "events.jsonl")
		if err := os.Mkdir(filepath.Dir(name), 0o700); err != nil {
			rt.Fatal(err)
		}
		rotation := lines.Rotation{Bytes: rapid.Int64Range(0, 200).Draw(rt, "bytes")}
		f, err := lines.Open(name, rotation)
		if err != nil {
			rt.Fatal(err)
		}
		var want []string
		for range rapid.IntRange(0, 30).Draw(rt, "batches") {
			batch := ""
			for _, word := range rapid.SliceOfN(rapid.StringMatching(`[a-z]{0,20}`), 1, 4).Draw(rt, "words") {
				want = append(want, word+"\n")
				batch += word + "\n"
			}
			if err := errors.Join(f.Append([]byte(batch)), f.Rotated()); err != nil {
				rt.Fatal(err)
			}
			if rapid.Bool().Draw(rt, "restart") {
				if err := f.Close(); err != nil {
					rt.Fatal(err)
				}
				if f, err = lines.Open(name, rotation); err != nil {
					rt.Fatal(err)
				}
			}
		}
		if err := f.Close(); err != nil {
			rt.Fatal(err)
		}
		if got, _ := linesOf(t, name); strings.Join(got, "") != strings.Join(want, "") {
			rt.Fatalf("read %q, want %q", got, want)
		}
	})
}
