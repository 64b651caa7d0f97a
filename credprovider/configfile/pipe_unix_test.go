//go:build unix

package configfile_test

import (
	"errors"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/lanyard-dev/lanyard/credprovider/configfile"
)

func TestPipe(t *testing.T) {
	t.Run("CRP-1 a pipe is refused before it can hang the reader", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "p.yaml")
		if err := syscall.Mkfifo(path, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := configfile.Load(path); !errors.Is(err, configfile.ErrNotRegular) {
			t.Errorf("Load = %v, want ErrNotRegular", err)
		}
	})
}
