package transport_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"github.com/lanyard-dev/lanyard/execcredential"
	"github.com/lanyard-dev/lanyard/execcredential/internal/loginlab"
	"github.com/lanyard-dev/lanyard/execcredential/transport"
)

// openTerminal returns both ends of a new pseudo terminal.
func openTerminal(t *testing.T) (person, plugin *os.File) {
	t.Helper()
	person, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("no pseudo terminals here: %v", err)
	}
	t.Cleanup(func() { person.Close() })
	var number, unlock int32
	for _, call := range []struct {
		request uintptr
		value   *int32
	}{{syscall.TIOCSPTLCK, &unlock}, {syscall.TIOCGPTN, &number}} {
		if _, _, errno := syscall.Syscall(syscall.SYS_IOCTL, person.Fd(), call.request, uintptr(unsafe.Pointer(call.value))); errno != 0 {
			t.Fatal(errno)
		}
	}
	plugin, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { plugin.Close() })
	return person, plugin
}

// asking is a plugin that makes its token of what it reads, and of whether it was told to.
const asking = `
case "$KUBERNETES_EXEC_INFO" in *'"interactive":true'*) told=yes;; *) told=no;; esac
[ -t 0 ] && tty=yes || tty=no
printf 'Password: ' >&2
read word || word=eof
printf '{"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1","status":{"token":"told=%s tty=%s word=%s"}}' $told $tty "$word" >"$LAB/answer"
`

func ask(t *testing.T, mode execcredential.InteractiveMode, options transport.Options) (string, *loginlab.Plugin, error) {
	t.Helper()
	plugin := loginlab.NewPlugin(t, asking)
	config := plugin.Config()
	config.InteractiveMode = mode
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	credential, err := newSource(t, newPool(t, options), config).Credential(ctx)
	if err != nil {
		return "", plugin, err
	}
	return credential.Token().Reveal(), plugin, nil
}

func TestInteractiveModes(t *testing.T) {
	for _, mode := range []execcredential.InteractiveMode{execcredential.InteractiveNever, execcredential.InteractiveIfAvailable, execcredential.InteractiveAlways} {
		t.Run("ECR-5 ECR-24 KEP-541 integration: all InteractiveMode values are supported, with a terminal: "+string(mode), func(t *testing.T) {
			person, stdin := openTerminal(t)
			if _, err := person.WriteString("sesame\n"); err != nil {
				t.Fatal(err)
			}
			var prompt strings.Builder
			got, _, err := ask(t, mode, transport.Options{Terminal: transport.NewTerminal(stdin), Stderr: &prompt})
			want := "told=yes tty=yes word=sesame"
			if mode == execcredential.InteractiveNever {
				want = "told=no tty=no word=eof"
			}
			if err != nil || got != want || prompt.String() != "Password: " {
				t.Errorf("token = %q, %v, prompt %q, want %q and the prompt", got, err, prompt.String(), want)
			}
		})
	}
	null, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	for name, terminal := range map[string]*transport.Terminal{"no standard input": nil, "a device that is no terminal": transport.NewTerminal(null)} {
		t.Run("ECR-5 ECR-24 KEP-541 integration: executables requiring prompts fail gracefully with "+name, func(t *testing.T) {
			_, plugin, err := ask(t, execcredential.InteractiveAlways, transport.Options{Terminal: terminal})
			var interactive *transport.InteractiveError
			if !errors.As(err, &interactive) || !errors.Is(err, transport.ErrNoTerminal) || plugin.Runs() != 0 {
				t.Errorf("Credential = %v, runs = %d, want ErrNoTerminal, 0", err, plugin.Runs())
			}
		})
		t.Run("ECR-5 IfAvailable runs without standard input with "+name, func(t *testing.T) {
			if got, _, err := ask(t, execcredential.InteractiveIfAvailable, transport.Options{Terminal: terminal}); err != nil || got != "told=no tty=no word=eof" {
				t.Errorf("token = %q, %v, want a run without standard input", got, err)
			}
		})
	}
}

func TestClaimedTerminal(t *testing.T) {
	t.Run("ECR-5 KEP-541 integration: commands and plugins do not fight for standard input", func(t *testing.T) {
		_, stdin := openTerminal(t)
		terminal := transport.NewTerminal(stdin)
		release := terminal.Claim("apply -f -")
		_, plugin, err := ask(t, execcredential.InteractiveAlways, transport.Options{Terminal: terminal})
		var interactive *transport.InteractiveError
		if !errors.As(err, &interactive) || !errors.Is(err, transport.ErrClaimed) || interactive.By != "apply -f -" || plugin.Runs() != 0 {
			t.Errorf("Always: %v, runs %d, want ErrClaimed by apply -f -, 0", err, plugin.Runs())
		}
		if got, _, err := ask(t, execcredential.InteractiveIfAvailable, transport.Options{Terminal: terminal}); err != nil || got != "told=no tty=no word=eof" {
			t.Errorf("IfAvailable: %q, %v, want a run without standard input", got, err)
		}
		release()
		release()
		claimed := make(chan struct{})
		go func() { defer close(claimed); terminal.Claim("another")() }()
		<-claimed
	})
	t.Run("ECR-5 two plugins never read standard input at once", func(t *testing.T) {
		person, stdin := openTerminal(t)
		terminal := transport.NewTerminal(stdin)
		shared := t.TempDir()
		body := `mkdir "` + shared + `/reading" || echo both >"` + shared + `/both"
read word
rmdir "` + shared + `/reading"`
		pool := newPool(t, transport.Options{Terminal: terminal})
		results := make(chan error, 4)
		for range 4 {
			plugin := loginlab.NewPlugin(t, body)
			plugin.Status("t", "", "", time.Time{})
			config := plugin.Config()
			config.InteractiveMode = execcredential.InteractiveAlways
			source := newSource(t, pool, config)
			go func() { _, err := source.Credential(context.Background()); results <- err }()
		}
		for range 4 {
			if _, err := person.WriteString("line\n"); err != nil {
				t.Fatal(err)
			}
			if err := <-results; err != nil {
				t.Errorf("Credential = %v, want nil", err)
			}
		}
		if _, err := os.Stat(shared + "/both"); err == nil {
			t.Error("two plugins read at once")
		}
	})
	t.Run("ECR-11 a person who logs in is bounded by the caller's context alone", func(t *testing.T) {
		_, stdin := openTerminal(t)
		plugin := loginlab.NewPlugin(t, `sleep 0.5`)
		plugin.Status("t", "", "", time.Time{})
		config := plugin.Config()
		config.InteractiveMode = execcredential.InteractiveAlways
		pool := newPool(t, transport.Options{Terminal: transport.NewTerminal(stdin), Timeout: time.Millisecond})
		if _, err := newSource(t, pool, config).Credential(t.Context()); err != nil {
			t.Errorf("Credential = %v, want nil in spite of the time limit", err)
		}
		slow := loginlab.NewPlugin(t, `exec sleep 1000`)
		config.Command = slow.Path
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		if _, err := newSource(t, pool, config).Credential(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Credential = %v, want the context's deadline", err)
		}
	})
}

func TestInteractiveRunWithoutCallers(t *testing.T) {
	const once = `[ -e "$LAB/pid" ] || { echo $$ >"$LAB/pid.new"; mv "$LAB/pid.new" "$LAB/pid"; exec sleep 1000; }`
	prepare := func(t *testing.T) (*loginlab.Plugin, *transport.Terminal, *transport.Source) {
		_, stdin := openTerminal(t)
		plugin := loginlab.NewPlugin(t, once)
		plugin.Status("t", "", "", time.Time{})
		config := plugin.Config()
		config.InteractiveMode = execcredential.InteractiveIfAvailable
		terminal := transport.NewTerminal(stdin)
		return plugin, terminal, newSource(t, newPool(t, transport.Options{Terminal: terminal}), config)
	}
	abandon := func(t *testing.T, plugin *loginlab.Plugin, source *transport.Source) {
		t.Helper()
		ctx, cancel := context.WithCancel(t.Context())
		left := make(chan error, 1)
		go func() { _, err := source.Credential(ctx); left <- err }()
		eventually(t, "plugin runs", func() bool { return plugin.File("pid") != nil })
		cancel()
		if err := <-left; !errors.Is(err, context.Canceled) {
			t.Errorf("Credential = %v, want context.Canceled", err)
		}
	}
	t.Run("ECR-10 an interactive run ends with its last waiter, and that is no failure", func(t *testing.T) {
		plugin, _, source := prepare(t)
		abandon(t, plugin, source)
		eventually(t, "plugin is killed", func() bool { return !alive(plugin.File("pid")) })
		if _, err := source.Credential(t.Context()); err != nil || plugin.Runs() != 2 {
			t.Errorf("the next Credential = %v, runs = %d, want a run of its own", err, plugin.Runs())
		}
	})
	t.Run("ECR-10 a run that could not have the terminal is not interactive and goes on", func(t *testing.T) {
		plugin, terminal, source := prepare(t)
		defer terminal.Claim("apply -f -")()
		abandon(t, plugin, source)
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		if _, err := source.Credential(ctx); !errors.Is(err, context.DeadlineExceeded) || plugin.Runs() != 1 || !alive(plugin.File("pid")) {
			t.Errorf("the next Credential = %v, runs = %d, want to join the first run", err, plugin.Runs())
		}
	})
}
