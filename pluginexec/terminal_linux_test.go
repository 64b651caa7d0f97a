package pluginexec_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"unsafe"

	"github.com/lanyard-dev/lanyard/pluginexec"
)

const insideTerminal = "LAB_INSIDE_TERMINAL"

// TestPromptWithControllingTerminal runs itself in a session with a terminal, as a shell would, and a plugin inside
// that.
func TestPromptWithControllingTerminal(t *testing.T) {
	if os.Getenv(insideTerminal) != "" {
		promptInside(t)
		return
	}
	t.Run("ECR-24 a plugin that prompts on /dev/tty and was handed no terminal fails at once", func(t *testing.T) {
		cmd := exec.Command(os.Args[0], "-test.run=^TestPromptWithControllingTerminal$", "-test.timeout=20s")
		cmd.Env = append(os.Environ(), insideTerminal+"=1")
		cmd.Stdin = openTerminal(t)
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
		var out bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &out
		if err := cmd.Run(); err != nil {
			t.Errorf("inside the terminal: %v\n%s", err, out.String())
		}
	})
}

func promptInside(t *testing.T) {
	if _, err := os.Stat("/dev/tty"); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience/2)
	defer cancel()
	_, err := pluginexec.Run(ctx, pluginexec.Command{Path: script(t, `read word </dev/tty || exit 9`)})
	var exit *pluginexec.ExitError
	if !errors.As(err, &exit) || exit.Code == 0 {
		t.Errorf("Run = %v, want an exit code at once", err)
	}
}

// openTerminal returns the near end of a pseudo terminal; the far end stays open until the test ends.
func openTerminal(t *testing.T) *os.File {
	t.Helper()
	far, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("no pseudo terminals here: %v", err)
	}
	t.Cleanup(func() { far.Close() })
	var number, unlock int32
	ioctl := func(request uintptr, value *int32) {
		if _, _, errno := syscall.Syscall(syscall.SYS_IOCTL, far.Fd(), request, uintptr(unsafe.Pointer(value))); errno != 0 {
			t.Fatal(errno)
		}
	}
	ioctl(syscall.TIOCSPTLCK, &unlock)
	ioctl(syscall.TIOCGPTN, &number)
	near, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { near.Close() })
	return near
}
