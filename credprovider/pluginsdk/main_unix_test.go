//go:build unix

package pluginsdk_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/lanyard-dev/lanyard/credprovider"
	"github.com/lanyard-dev/lanyard/credprovider/pluginsdk"
)

const asPlugin = "LAB_AS_PLUGIN"

// TestMain is a plugin whose handler waits, when the test below starts it as one.
func TestMain(m *testing.M) {
	if os.Getenv(asPlugin) == "" {
		os.Exit(m.Run())
	}
	os.Exit(pluginsdk.Main(func(ctx context.Context, _ credprovider.Request) (credprovider.Response, error) {
		_, _ = os.Stderr.WriteString("waiting\n")
		<-ctx.Done()
		return credprovider.Response{}, ctx.Err()
	}))
}

func TestMainEndsOnSignals(t *testing.T) {
	for name, signal := range map[string]os.Signal{"SIGINT": os.Interrupt, "SIGTERM": syscall.SIGTERM} {
		t.Run("CRP-24 "+name+" ends the handler's context, and its error is the exit code", func(t *testing.T) {
			cmd := exec.CommandContext(t.Context(), os.Args[0])
			cmd.Env = append(os.Environ(), asPlugin+"=1")
			cmd.Stdin = strings.NewReader(line(credprovider.V1, ""))
			said, err := cmd.StderrPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			if text, err := bufio.NewReader(said).ReadString('\n'); text != "waiting\n" {
				t.Fatalf("the plugin said %q, %v", text, err)
			}
			if err := cmd.Process.Signal(signal); err != nil {
				t.Fatal(err)
			}
			var exit *exec.ExitError
			if err := cmd.Wait(); !errors.As(err, &exit) || exit.ExitCode() != pluginsdk.ExitRefused {
				t.Errorf("the plugin ended with %v, want exit code %d", err, pluginsdk.ExitRefused)
			}
		})
	}
	t.Run("CRP-24 the end of the context ends the reading of a request that does not come", func(t *testing.T) {
		in, held := io.Pipe()
		defer held.Close()
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		var out, problems bytes.Buffer
		if code := pluginsdk.Serve(ctx, none, in, &out, &problems); code != pluginsdk.ExitRefused || problems.String() != "context canceled\n" {
			t.Errorf("Serve = %d, %q, want %d", code, problems.String(), pluginsdk.ExitRefused)
		}
	})
}
