package apiserver_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// terminal runs kubectl on a terminal of the size and returns what it showed.
func (k kubectl) terminal(t *testing.T, width, height uint16, args ...string) string {
	t.Helper()
	controller, terminal := openTerminal(t)
	if err := unix.IoctlSetWinsize(int(terminal.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Col: width, Row: height}); err != nil {
		t.Fatal(err)
	}
	cmd := k.command(args...)
	cmd.Env = append(cmd.Env, "TERM=xterm")
	cmd.Stdin, cmd.Stdout, cmd.Stderr = terminal, terminal, terminal
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	terminal.Close()
	timer := time.AfterFunc(20*time.Second, func() { _ = cmd.Process.Kill() })
	defer timer.Stop()
	shown, _ := io.ReadAll(controller) // ends with an error when the last user of the terminal is gone
	if err := cmd.Wait(); err != nil {
		t.Errorf("kubectl: %v, showed %q", err, shown)
	}
	return string(shown)
}

func openTerminal(t *testing.T) (controller, terminal *os.File) {
	t.Helper()
	controller, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skip("no pseudo terminals here: ", err)
	}
	t.Cleanup(func() { controller.Close() })
	if err := unix.IoctlSetPointerInt(int(controller.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	number := must(unix.IoctlGetInt(int(controller.Fd()), unix.TIOCGPTN))(t)
	return controller, must(os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0))(t)
}

// linesOf reads lines until the end of the reader.
func linesOf(r io.Reader) <-chan string {
	lines := make(chan string)
	go func() {
		defer close(lines)
		for s := bufio.NewScanner(r); s.Scan(); {
			lines <- s.Text()
		}
	}()
	return lines
}

// waitLine reads until a line has the text and returns it.
func waitLine(t *testing.T, lines <-chan string, text string) string {
	t.Helper()
	timeout := time.After(10 * time.Second)
	for {
		select {
		case line, ok := <-lines:
			if !ok {
				t.Fatalf("the output ended before %q", text)
			}
			if strings.Contains(line, text) {
				return line
			}
		case <-timeout:
			t.Fatalf("no %q after ten seconds", text)
		}
	}
}

// forwards sends a line through kubectl port-forward to the stub, which sends it back.
func forwards(t *testing.T, k kubectl) {
	cmd := k.command("port-forward", "pod/one", ":80")
	pipe := must(cmd.StdoutPipe())(t)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}()
	line := waitLine(t, linesOf(pipe), "Forwarding from 127.0.0.1:")
	_, rest, _ := strings.Cut(line, "127.0.0.1:")
	port, _, _ := strings.Cut(rest, " ")
	conn := must(net.Dial("tcp", "127.0.0.1:"+port))(t)
	defer conn.Close()
	fmt.Fprint(conn, "there and back")
	got := make([]byte, len("there and back"))
	if _, err := io.ReadFull(conn, got); err != nil || string(got) != "there and back" {
		t.Errorf("read %q, %v", got, err)
	}
}
