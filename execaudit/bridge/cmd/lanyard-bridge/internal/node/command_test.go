//go:build linux

package node

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lanyard-dev/lanyard/execaudit/journal"
)

func TestCommand(t *testing.T) {
	call := func(ctx context.Context, errs io.Writer, args ...string) error {
		c := Command()
		c.SetArgs(args)
		c.SetOut(io.Discard)
		c.SetErr(errs)
		c.SilenceUsage, c.SilenceErrors = true, true
		return c.ExecuteContext(ctx)
	}
	t.Run("BRG-9 the daemon works until it is told to end", func(t *testing.T) {
		o := options(t)
		r := record(1)
		leave(t, o.spoolDir(), r)
		ctx, stop := context.WithCancel(context.Background())
		done := make(chan error)
		go func() {
			done <- call(ctx, io.Discard, "--no-lease", "--node-name", "n1", "--host-root", o.HostRoot, "--state-dir", "/state", "--metrics-listen", "127.0.0.1:0")
		}()
		eventually(t, "its intent", func() bool { return len(of(records(t, o.journalFile()), journal.KindIntent, r.Session.String())) == 1 })
		stop()
		must(t, <-done)
		if info, err := os.Stat(filepath.Dir(o.journalFile())); err != nil || info.Mode().Perm() != 0o700 {
			t.Errorf("the journal's directory: %v, %v", info, err)
		}
	})
	for name, args := range map[string][]string{
		"BRG-9 no node":                    {"--node-name", ""},
		"BRG-9 a Lease that is too short":  {"--lease-duration", "1s"},
		"BRG-9 no rescan":                  {"--rescan", "0s"},
		"BRG-9 a journal of negative size": {"--journal-max-bytes", "-1"},
		"BRG-9 an argument":                {"x"},
		"BRG-9 an address that is none":    {"--no-lease", "--metrics-listen", "nowhere:x"},
		"BRG-9 no API server to be known":  {"--host-root", t.TempDir(), "--metrics-listen", "", "--kubeconfig", "/no/such/file"},
	} {
		t.Run(name, func(t *testing.T) {
			var errs bytes.Buffer
			if err := call(context.Background(), &errs, args...); err == nil || strings.Contains(errs.String(), "panic") {
				t.Errorf("no error: %s", &errs)
			}
		})
	}
}
