package pipe_test

import (
	"bytes"
	"errors"
	"io"
	"os"
	"strconv"
	"testing"

	"golang.org/x/sys/unix"
	"pgregory.net/rapid"

	"github.com/lanyard-dev/lanyard/examples/runtime/pipe"
)

func TestReader(t *testing.T) {
	t.Run("STK-2 all that was written before the end is read, also when somebody else holds the pipe", func(t *testing.T) {
		rapid.Check(t, func(t *rapid.T) {
			r, w, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			// Never closed while it is read: this is the somebody else.
			defer w.Close()
			reader := pipe.NewReader(r, false)
			var want bytes.Buffer
			for _, chunk := range rapid.SliceOfN(rapid.SliceOfN(rapid.Byte(), 1, 4000), 0, 10).Draw(t, "chunks") {
				want.Write(chunk)
				if _, err := w.Write(chunk); err != nil {
					t.Fatal(err)
				}
			}
			taken := make([]byte, rapid.IntRange(0, want.Len()).Draw(t, "read before the end"))
			if _, err := io.ReadFull(reader, taken); err != nil {
				t.Fatal(err)
			}
			reader.Finish()
			rest, err := io.ReadAll(reader)
			if got := append(taken, rest...); err != nil || !bytes.Equal(got, want.Bytes()) {
				t.Fatalf("%d bytes read of %d, %v", len(got), want.Len(), err)
			}
		})
	})
	t.Run("STK-2 a reader that waits is woken by the end", func(t *testing.T) {
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		defer w.Close()
		reader := pipe.NewReader(r, false)
		done := make(chan error, 1)
		go func() {
			_, err := reader.Read(make([]byte, 1))
			done <- err
		}()
		reader.Finish()
		if err := <-done; !errors.Is(err, io.EOF) {
			t.Errorf("Read = %v, want EOF", err)
		}
	})
	t.Run("STK-2 the end of a terminal is an end and no error", func(t *testing.T) {
		master, slave := terminal(t)
		defer master.Close()
		if _, err := slave.WriteString("bye"); err != nil {
			t.Fatal(err)
		}
		slave.Close()
		got, err := io.ReadAll(pipe.NewReader(master, true))
		if err != nil || string(got) != "bye" {
			t.Errorf("read %q, %v", got, err)
		}
	})
	t.Run("STK-2 a terminal that nobody hangs up is given up", func(t *testing.T) {
		master, slave := terminal(t)
		defer master.Close()
		defer slave.Close()
		if _, err := slave.WriteString("bye"); err != nil {
			t.Fatal(err)
		}
		reader := pipe.NewReader(master, true)
		reader.Finish()
		got, err := io.ReadAll(reader)
		if err != nil || string(got) != "bye" {
			t.Errorf("read %q, %v", got, err)
		}
	})
}

func terminal(t *testing.T) (master, slave *os.File) {
	t.Helper()
	fd, err := unix.Open("/dev/ptmx", unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC|unix.O_NONBLOCK, 0)
	if err != nil {
		t.Skip(err)
	}
	master = os.NewFile(uintptr(fd), "ptmx")
	if err := unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	if slave, err = os.OpenFile("/dev/pts/"+strconv.Itoa(n), os.O_RDWR|unix.O_NOCTTY, 0); err != nil {
		t.Fatal(err)
	}
	return master, slave
}
