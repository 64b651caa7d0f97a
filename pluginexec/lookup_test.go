package pluginexec

import (
	"errors"
	"os/exec"
	"path/filepath"
	"testing"
)

func TestStartErrorOfASearch(t *testing.T) {
	t.Run("ECR-12 a path that Windows searches extensions for, and that is not there", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "absent")
		var lookup *LookupError
		if err := startError(path, &exec.Error{Name: path, Err: exec.ErrNotFound}); !errors.As(err, &lookup) || lookup.Kind != ErrNotFound {
			t.Errorf("startError = %v, want a *LookupError of kind ErrNotFound", err)
		}
	})
}
