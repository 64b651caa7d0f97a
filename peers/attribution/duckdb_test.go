package attribution_test

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// duckDB builds and starts the program of the directory duckdb and returns what has it join once. Neither its build nor
// its start is part of what is measured.
func duckDB(tb testing.TB, in input) func() int {
	tb.Helper()
	program := filepath.Join(tb.TempDir(), "duckdb")
	build := exec.Command("go", "build", "-o", program, ".")
	build.Dir, build.Env = "duckdb", append(os.Environ(), "GOWORK=off", "CGO_ENABLED=1")
	if out, err := build.CombinedOutput(); err != nil {
		tb.Skipf("DuckDB's driver needs a C++ compiler and its library: %v: %s", err, out)
	}
	cmd := exec.Command(program, in.audit, in.events)
	cmd.Stderr = os.Stderr
	ask, err := cmd.StdinPipe()
	if err != nil {
		tb.Fatal(err)
	}
	answers, err := cmd.StdoutPipe()
	if err != nil {
		tb.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := ask.Close(); err != nil {
			tb.Error(err)
		}
		if err := cmd.Wait(); err != nil {
			tb.Error(err)
		}
	})
	lines := bufio.NewReader(answers)
	return func() int {
		named := 0
		if _, err := fmt.Fprintln(ask); err != nil {
			tb.Fatal(err)
		}
		if _, err := fmt.Fscanln(lines, &named); err != nil {
			tb.Fatal(err)
		}
		return named
	}
}
