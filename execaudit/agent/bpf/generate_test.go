//go:build linux && (amd64 || arm64)

package bpf_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// generated are the files that generate.go has made.
var generated = []string{"programs_bpfel.go", "programs_bpfel.o", "raw_bpfel.go", "raw_bpfel.o"}

func TestGenerated(t *testing.T) {
	for _, tool := range []string{"clang-14", "llvm-strip-14"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skip(err)
		}
	}
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Main}}").CombinedOutput()
	if err != nil || !strings.Contains(string(out), "true") {
		t.Skipf("not in the module's own tree, where its tools are: %s", out)
	}
	t.Run("AGT-1 objects and their Go are what the source compiles to", func(t *testing.T) {
		dir := t.TempDir()
		source, err := os.ReadFile("programs.c")
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "programs.c"), source, 0o600); err != nil {
			t.Fatal(err)
		}
		for _, args := range directives(t) {
			cmd := exec.Command(tool(t, args[2]), args[3:]...)
			cmd.Dir = dir // the objects name their source as seen from here
			cmd.Env = append(os.Environ(), "GOPACKAGE=bpf")
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("%q: %v\n%s", args, err, out)
			}
		}
		for _, name := range generated {
			got, err := os.ReadFile(filepath.Join(dir, name))
			if err != nil {
				t.Fatal(err)
			}
			want, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(got, want) {
				t.Errorf("%s differs from what programs.c compiles to: run go generate", name)
			}
		}
	})
}

// directives returns the commands of generate.go: that of -command, and what each of the others adds to it.
func directives(t *testing.T) (commands [][]string) {
	t.Helper()
	text, err := os.ReadFile("generate.go")
	if err != nil {
		t.Fatal(err)
	}
	var command []string
	for line := range strings.Lines(string(text)) {
		args, ok := strings.CutPrefix(line, "//go:generate ")
		fields := strings.Fields(args)
		switch {
		case !ok:
		case fields[0] == "-command":
			command = fields[2:]
		default:
			commands = append(commands, append(command[:len(command):len(command)], fields[1:]...))
		}
	}
	if len(commands) != 2 {
		t.Fatalf("%d directives, want 2", len(commands))
	}
	return commands
}

// tool returns the program of a tool of the module, built.
func tool(t *testing.T, name string) string {
	t.Helper()
	out, err := exec.Command("go", "tool", "-n", name).Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}
