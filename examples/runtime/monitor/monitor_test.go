package monitor_test

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/lanyard-dev/lanyard/examples/runtime/monitor"
)

func TestPhase(t *testing.T) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC)
	t.Run("STK-2 the files of a container tell how far it came", func(t *testing.T) {
		dir := t.TempDir()
		if p, err := monitor.Read(dir); err != nil || p.Launched || p.Alive || p.Started != nil || p.Exited != nil {
			t.Errorf("empty directory: %+v, %v", p, err)
		}
		lock, err := monitor.HoldAlive(dir)
		if err := errors.Join(err, monitor.WriteSpec(dir, monitor.Spec{ID: "c"}), monitor.WriteStarted(dir, monitor.Started{Pid: 7, StartTime: 8, At: at})); err != nil {
			t.Fatal(err)
		}
		if p, err := monitor.Read(dir); err != nil || !p.Launched || !p.Alive || p.Started == nil || p.Started.Pid != 7 {
			t.Errorf("running: %+v, %v", p, err)
		}
		lock.Close()
		if p, err := monitor.Read(dir); err != nil || p.Alive {
			t.Errorf("monitor gone: %+v, %v", p, err)
		}
	})
	t.Run("STK-2 nobody abandons a container whose monitor runs, and the monitor's own word counts", func(t *testing.T) {
		dir := t.TempDir()
		lock, err := monitor.HoldAlive(dir)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := monitor.Abandon(dir, monitor.Exited{Lost: true}); !errors.Is(err, monitor.ErrAlive) {
			t.Errorf("Abandon = %v, want ErrAlive", err)
		}
		if err := monitor.WriteExited(dir, monitor.Exited{Code: 3, At: at}); err != nil {
			t.Fatal(err)
		}
		lock.Close()
		if got, err := monitor.Abandon(dir, monitor.Exited{Lost: true}); err != nil || got.Code != 3 || got.Lost {
			t.Errorf("Abandon = %+v, %v, want the monitor's", got, err)
		}
	})
	t.Run("STK-2 a broken file is an error", func(t *testing.T) {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "started.json"), []byte("{"), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := monitor.Read(dir); err == nil {
			t.Error("no error")
		}
	})
}

func TestConn(t *testing.T) {
	t.Run("STK-2 packets carry values and files, from however deep a directory", func(t *testing.T) {
		dir := filepath.Join(t.TempDir(), strings.Repeat("a-long-name", 20))
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		l, err := monitor.Listen(dir)
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		client, err := monitor.Dial(dir)
		if err != nil {
			t.Fatal(err)
		}
		accepted, err := l.AcceptUnix()
		if err != nil {
			t.Fatal(err)
		}
		server := monitor.NewConn(accepted)
		defer server.Close()
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := client.Send(monitor.Request{Op: monitor.OpExec, Process: "p"}, r, w); err != nil {
			t.Fatal(err)
		}
		r.Close()
		w.Close()
		var got monitor.Request
		files, err := server.Receive(&got)
		if err != nil || got.Op != monitor.OpExec || got.Process != "p" || len(files) != 2 {
			t.Fatalf("got %+v, %d files, %v", got, len(files), err)
		}
		if _, err := files[1].WriteString("through"); err != nil {
			t.Fatal(err)
		}
		files[1].Close()
		if b, err := io.ReadAll(files[0]); err != nil || string(b) != "through" {
			t.Errorf("the pipe carries %q, %v", b, err)
		}
		client.Close()
		if _, err := server.Receive(&got); !errors.Is(err, io.EOF) {
			t.Errorf("after the end: %v, want EOF", err)
		}
	})
	t.Run("STK-2 a packet that is too large is not sent", func(t *testing.T) {
		dir := t.TempDir()
		l, err := monitor.Listen(dir)
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		c, err := monitor.Dial(dir)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		if err := c.Send(monitor.Request{Process: strings.Repeat("x", 64<<10)}); err == nil {
			t.Error("no error")
		}
	})
}

func TestSessionID(t *testing.T) {
	t.Run("EXA-39 a process has the kernel's session of its login, and its children the same", func(t *testing.T) {
		for _, login := range []string{"", "echo 4711 >/proc/self/loginuid || exit; "} {
			c := exec.Command("sh", "-c", login+"read x </proc/self/sessionid; echo $x; sleep 60 & echo $!; wait")
			c.SysProcAttr = &unix.SysProcAttr{Setpgid: true}
			out, err := c.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := c.Start(); err != nil {
				t.Fatal(err)
			}
			var want uint32
			var child int
			_, err = fmt.Fscan(out, &want, &child)
			if err == nil {
				for _, pid := range []int{c.Process.Pid, child} {
					if got, err := monitor.SessionID(pid); err != nil || got != want {
						t.Errorf("session ID = %d, %v, want %d", got, err, want)
					}
				}
			}
			_ = unix.Kill(-c.Process.Pid, unix.SIGKILL)
			_ = c.Wait()
			if err != nil {
				t.Skip("the kernel lets this process set no login UID")
			}
		}
	})
	t.Run("EXA-39 no process, no session", func(t *testing.T) {
		if _, err := monitor.SessionID(1 << 22); !errors.Is(err, unix.ENOENT) {
			t.Errorf("no process: %v", err)
		}
	})
}

func TestStartTime(t *testing.T) {
	t.Run("STK-2 ATT-11 a process is named by PID and start time, whatever it calls itself", func(t *testing.T) {
		before, err := monitor.StartTime(os.Getpid())
		if err != nil {
			t.Fatal(err)
		}
		name, err := os.ReadFile("/proc/self/comm")
		if err != nil {
			t.Fatal(err)
		}
		defer os.WriteFile("/proc/self/comm", name, 0)
		if err := os.WriteFile("/proc/self/comm", []byte("x) S 1 2 ("), 0); err != nil {
			t.Fatal(err)
		}
		if after, err := monitor.StartTime(os.Getpid()); err != nil || after != before {
			t.Errorf("start time = %d, %v, want %d", after, err, before)
		}
		if _, err := monitor.StartTime(1 << 22); !errors.Is(err, unix.ENOENT) {
			t.Errorf("no process: %v", err)
		}
	})
}
