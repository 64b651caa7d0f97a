package e2e_test

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/lanyard-dev/lanyard/examples/login"
	"github.com/lanyard-dev/lanyard/examples/parts"
	"github.com/lanyard-dev/lanyard/execcredential/transport"
)

// mode has the plugin ask a person in that mode: it is given no password.
func mode(m clientcmdapi.ExecInteractiveMode) func(*clientcmdapi.ExecConfig) {
	return func(c *clientcmdapi.ExecConfig) { c.InteractiveMode, c.Env = m, nil }
}

// interactive has people log in, and programs where there is nobody.
func (l *logins) interactive(t *testing.T) {
	for _, m := range []clientcmdapi.ExecInteractiveMode{
		clientcmdapi.AlwaysExecInteractiveMode, clientcmdapi.IfAvailableExecInteractiveMode, clientcmdapi.NeverExecInteractiveMode,
	} {
		asked := m != clientcmdapi.NeverExecInteractiveMode
		t.Run("ECR-5 ECR-24 STK-7 KEP-541 integration: TTY forwarding between client and executable works, and all InteractiveMode values are supported: kubectl, "+string(m), func(t *testing.T) {
			user := "kubectl-" + string(m)
			shown := onTerminal(t, l.user(t, user, login.Certificate, lasting, mode(m)), "auth", "whoami", "-o", "jsonpath=<{.status.userInfo.username}>")
			if prompted := strings.Contains(shown, "Password of "+user+": "); prompted != asked || strings.Contains(shown, "<"+user+">") != asked {
				t.Errorf("the terminal showed %q, want a prompt and the user: %v", shown, asked)
			}
		})
		t.Run("ECR-5 ECR-24 STK-7 KEP-541 integration: TTY forwarding works, and all InteractiveMode values are supported: our transport, "+string(m), func(t *testing.T) {
			person, terminal := openPTY(t)
			if _, err := person.WriteString(loginPassword + "\n"); err != nil {
				t.Fatal(err)
			}
			var prompt strings.Builder
			pool := newPool(t, transport.Options{Terminal: transport.NewTerminal(terminal), Stderr: &prompt})
			client := wrapped(t, pool, configOf(t, l.user(t, "ours-"+string(m), login.Certificate, lasting, mode(m))))
			_, err := client.CoreV1().ConfigMaps("default").List(t.Context(), metav1.ListOptions{})
			if (err == nil) != asked || strings.Contains(prompt.String(), "Password of") != asked {
				t.Errorf("request = %v after %q, want a prompt and success: %v", err, prompt.String(), asked)
			}
		})
	}
	t.Run("ECR-5 STK-7 KEP-541 integration: executables requiring interactive prompts fail gracefully in kubectl without a terminal", func(t *testing.T) {
		got := kubectl(t, l.user(t, "nobody", login.Certificate, lasting, mode(clientcmdapi.AlwaysExecInteractiveMode)), "get", "configmaps")
		if got.code == 0 || !strings.Contains(got.err, "standard input is not a terminal") {
			t.Errorf("kubectl: exit %d: %s", got.code, got.err)
		}
	})
	t.Run("ECR-5 STK-7 KEP-541 integration: kubectl commands and exec credential plugins do not fight for standard input", func(t *testing.T) {
		const manifest = `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"from-stdin","namespace":"default"}}`
		file := l.user(t, "piping", login.Certificate, lasting, func(c *clientcmdapi.ExecConfig) { c.InteractiveMode = clientcmdapi.IfAvailableExecInteractiveMode })
		cmd := exec.CommandContext(t.Context(), parts.Need(t, "kubectl")[0], "--kubeconfig", file, "create", "--validate=false", "-f", "-")
		cmd.Stdin = strings.NewReader(manifest)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("kubectl: %v: %s", err, out)
		}
		if _, err := l.Admin().CoreV1().ConfigMaps("default").Get(t.Context(), "from-stdin", metav1.GetOptions{}); err != nil {
			t.Error(err)
		}
	})
	t.Run("ECR-5 a program that reads standard input claims it, and the plugin is not run", l.claimed)
}

// claimed leaves a line on a terminal that a program has claimed.
func (l *logins) claimed(t *testing.T) {
	person, stdin := openPTY(t)
	if _, err := person.WriteString("for the program\n"); err != nil {
		t.Fatal(err)
	}
	terminal := transport.NewTerminal(stdin)
	release := terminal.Claim("create -f -")
	defer release()
	client := wrapped(t, newPool(t, transport.Options{Terminal: terminal}),
		configOf(t, l.user(t, "claimed", login.Certificate, lasting, mode(clientcmdapi.AlwaysExecInteractiveMode))))
	if _, err := client.CoreV1().ConfigMaps("default").List(t.Context(), metav1.ListOptions{}); !errors.Is(err, transport.ErrClaimed) {
		t.Errorf("request = %v, want %v", err, transport.ErrClaimed)
	}
	line := make([]byte, 64)
	n, err := stdin.Read(line)
	if err != nil || string(line[:n]) != "for the program\n" {
		t.Errorf("the program read %q, %v", line[:n], err)
	}
}

// onTerminal runs kubectl on a terminal of its own, where somebody types the password
// ahead, and returns what it showed.
func onTerminal(t *testing.T, kubeconfig string, args ...string) string {
	t.Helper()
	person, terminal := openPTY(t)
	cmd := exec.CommandContext(t.Context(), parts.Need(t, "kubectl")[0], append([]string{"--kubeconfig", kubeconfig}, args...)...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = terminal, terminal, terminal
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	terminal.Close()
	if _, err := person.WriteString(loginPassword + "\n"); err != nil {
		t.Fatal(err)
	}
	impatient := time.AfterFunc(time.Minute, func() { _ = cmd.Process.Kill() })
	defer impatient.Stop()
	shown, _ := io.ReadAll(person) // ends with an error when the last user of the terminal is gone
	_ = cmd.Wait()                 // what it showed says how it ended
	return string(shown)
}

func openPTY(t *testing.T) (person, terminal *os.File) {
	t.Helper()
	person, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skip("no pseudo terminals here: ", err)
	}
	t.Cleanup(func() { person.Close() })
	if err := unix.IoctlSetPointerInt(int(person.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	number, err := unix.IoctlGetInt(int(person.Fd()), unix.TIOCGPTN)
	if err == nil {
		terminal, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { terminal.Close() })
	return person, terminal
}
