//go:build unix

package pluginexec_test

import (
	"os"
	"path/filepath"
	"testing"
)

// script writes an executable shell script and returns its path.
func script(t testing.TB, body string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "plugin")
	write(t, path, "#!/bin/sh\n"+body+"\n", 0o755)
	return path
}

func write(t testing.TB, path, text string, mode os.FileMode) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
}
