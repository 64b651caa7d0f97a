//go:build unix

package pluginexec_test

import (
	"context"
	"errors"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/lanyard-dev/lanyard/pluginexec"
)

func TestLookup(t *testing.T) {
	dir, other := t.TempDir(), t.TempDir()
	t.Setenv("PATH", dir+":"+other)
	write(t, filepath.Join(dir, "good"), "#!/bin/sh\n", 0o755)
	write(t, filepath.Join(dir, "plain"), "text", 0o644)
	write(t, filepath.Join(dir, "shadowed"), "text", 0o644)
	write(t, filepath.Join(other, "shadowed"), "#!/bin/sh\n", 0o755)
	cases := []struct {
		name, command, path string
		kind                error
	}{
		{"a name on PATH", "good", filepath.Join(dir, "good"), nil},
		{"a path", filepath.Join(dir, "good"), filepath.Join(dir, "good"), nil},
		{"a later executable behind a plain file", "shadowed", filepath.Join(other, "shadowed"), nil},
		{"ECR-12 a name that is nowhere", "absent", "", pluginexec.ErrNotFound},
		{"ECR-12 a path that is not there", filepath.Join(dir, "absent"), "", pluginexec.ErrNotFound},
		{"ECR-12 a name whose only file is not executable", "plain", "", pluginexec.ErrNotExecutable},
		{"ECR-12 a path to a file that is not executable", filepath.Join(dir, "plain"), "", pluginexec.ErrNotExecutable},
		{"ECR-12 a directory", dir, "", pluginexec.ErrNotExecutable},
		{"the empty command", "", "", pluginexec.ErrNotFound},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			path, err := pluginexec.Lookup(c.command)
			if path != c.path || !errors.Is(err, c.kind) {
				t.Errorf("Lookup(%q) = %q, %v, want %q, %v", c.command, path, err, c.path, c.kind)
			}
			var lookup *pluginexec.LookupError
			if c.kind != nil && !errors.As(err, &lookup) {
				t.Errorf("Lookup(%q) error is %T, want *LookupError", c.command, err)
			}
		})
	}
}

func TestLookupInTheCurrentDirectory(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "here"), "#!/bin/sh\n", 0o755)
	t.Chdir(dir)
	t.Setenv("PATH", ".")
	_, err := pluginexec.Lookup("here")
	if !errors.Is(err, pluginexec.ErrNotFound) || !errors.Is(err, exec.ErrDot) {
		t.Errorf("Lookup(here) with PATH=. = %v, want ErrNotFound and exec.ErrDot", err)
	}
}

func TestStartRefused(t *testing.T) {
	dir := t.TempDir()
	badInterpreter := filepath.Join(dir, "bad-interpreter")
	write(t, badInterpreter, "#!"+filepath.Join(dir, "absent")+"\n", 0o755)
	noFormat := filepath.Join(dir, "no-format")
	write(t, noFormat, "neither script nor program", 0o755)
	cases := []struct {
		name, path string
		kind       error
	}{
		{"ECR-12 a file that vanished since it was found", filepath.Join(dir, "gone"), pluginexec.ErrNotFound},
		{"ECR-12 a script whose interpreter is missing", badInterpreter, pluginexec.ErrNotExecutable},
		{"ECR-12 a file in no executable format", noFormat, pluginexec.ErrNotExecutable},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			_, err := pluginexec.Run(context.Background(), pluginexec.Command{Path: c.path})
			if !errors.Is(err, c.kind) {
				t.Errorf("Run(%q) = %v, want %v", c.path, err, c.kind)
			}
		})
	}
}
