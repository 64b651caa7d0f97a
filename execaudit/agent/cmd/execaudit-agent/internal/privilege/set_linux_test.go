package privilege_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/lanyard-dev/lanyard/execaudit/agent/cmd/execaudit-agent/internal/privilege"
)

// confinedVariable has this program confine itself, and tell what its threads have.
const confinedVariable = "LANYARD_TEST_CONFINED"

func TestMain(m *testing.M) {
	if os.Getenv(confinedVariable) != "" {
		if err := privilege.Confine(privilege.Of(unix.CAP_BPF, unix.CAP_PERFMON)); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		// A program that it executes has no more.
		out, err := exec.Command("cat", "/proc/self/status").CombinedOutput()
		if err != nil {
			out = append(out, err.Error()...)
		}
		files, _ := filepath.Glob("/proc/self/task/*/status")
		for _, file := range files {
			text, _ := os.ReadFile(file)
			out = append(out, text...)
		}
		os.Stdout.Write(out)
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func TestConfine(t *testing.T) {
	has, err := privilege.Permitted()
	if err != nil {
		t.Fatal(err)
	}
	want := has & privilege.Of(unix.CAP_BPF, unix.CAP_PERFMON)
	program := exec.Command(os.Args[0])
	program.Env = append(os.Environ(), confinedVariable+"=yes")
	out, err := program.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	t.Run("AGT-7 no thread has more than is kept, nor has what it executes", func(t *testing.T) {
		threads := 0
		for line := range strings.Lines(string(out)) {
			name, value, _ := strings.Cut(strings.TrimSpace(line), ":\t")
			value = strings.TrimSpace(value)
			switch name {
			case "CapInh", "CapAmb":
				if value != "0000000000000000" {
					t.Errorf("%s is %s, want none", name, value)
				}
			case "CapPrm", "CapEff":
				if value != fmt.Sprintf("%016x", uint64(want)) {
					t.Errorf("%s is %s, want %016x", name, value, uint64(want))
				}
				threads++
			case "NoNewPrivs":
				if value != "1" {
					t.Errorf("NoNewPrivs is %s, want 1", value)
				}
			}
		}
		if threads < 4 {
			t.Errorf("%d lines of threads:\n%s", threads, out)
		}
	})
	t.Run("AGT-7 what is given up is not had again, and is told by name", func(t *testing.T) {
		if got := privilege.Of(unix.CAP_BPF, unix.CAP_PERFMON, 5).Names(); !slices.Equal(got, []string{"CAP_BPF", "CAP_PERFMON", "capability 5"}) {
			t.Errorf("%q", got)
		}
	})
}
