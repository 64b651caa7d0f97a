//go:build linux

package install_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/lanyard-dev/lanyard/execaudit/bridge/cmd/lanyard-bridge/internal/install"
)

// asInstaller in the environment makes the test's program the command `install`.
const asInstaller = "LANYARD_TEST_INSTALLER"

func TestMain(m *testing.M) {
	if os.Getenv(asInstaller) == "" {
		os.Exit(m.Run())
	}
	c := install.Command()
	c.SetArgs(os.Args[1:])
	if c.ExecuteContext(context.Background()) != nil {
		os.Exit(1)
	}
}

// kills is how many installers are killed, at moments spread over what one takes.
const kills = 24

func TestKilled(t *testing.T) {
	main := "/etc/containerd/config.toml"
	m := newMachine(t, "containerd", main, containerdMain)
	o := m.options(install.ModeDropIn)
	start := func() *exec.Cmd {
		cmd := exec.Command(os.Args[0], "--mode", "drop-in", "--host-root", m.root, "--cri-socket", m.socket, "--config", main, "--node-name", "n1", "--wrapper", o.Wrapper)
		cmd.Env = append(os.Environ(), asInstaller+"=1")
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		return cmd
	}
	began := time.Now()
	if err := start().Wait(); err == nil {
		t.Fatal("it needs no restart")
	}
	took := time.Since(began)
	installedText := m.read(t, main)
	t.Run("BRG-9 BRG-11 an installer that is killed at any moment leaves what can be undone, and what can be gone on with", func(t *testing.T) {
		for i := range kills {
			mustUninstall(t, o)
			m.unchanged(t, containerdMain)
			cmd := start()
			timer := time.AfterFunc(took*time.Duration(i)/kills, func() { _ = cmd.Process.Kill() })
			_ = cmd.Wait()
			timer.Stop()
			if text := m.read(t, main); text != containerdMain && text != installedText {
				t.Fatalf("half a configuration: %q", text)
			}
			if text := m.read(t, main); text == installedText {
				// What is named is there.
				m.read(t, install.DefaultPrefix+"/bin/lanyard-oci-runc")
				m.read(t, install.DefaultPrefix+"/bin/lanyard-oci-runc.json")
			}
			if i%2 == 0 {
				mustInstall(t, o)
				if text := m.read(t, main); text != installedText {
					t.Fatalf("install again made %q", text)
				}
			}
		}
	})
	t.Run("BRG-9 nothing half-written stays", func(t *testing.T) {
		mustUninstall(t, o)
		entries, err := os.ReadDir(filepath.Dir(m.root + main))
		if err != nil || len(entries) != 1 {
			t.Errorf("beside the configuration are %v, %v", entries, err)
		}
		if _, err := os.Stat(m.root + install.DefaultPrefix); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s is there: %v", install.DefaultPrefix, err)
		}
	})
}
