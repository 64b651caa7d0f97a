package runtime_test

import (
	"bufio"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lanyard-dev/lanyard/envprecedence"
	"github.com/lanyard-dev/lanyard/examples/runtime/runtimetest"
	"github.com/lanyard-dev/lanyard/examples/testimage/report"
	"github.com/lanyard-dev/lanyard/execaudit"
)

// processes are those of the container, as the kernel counts them; runc's own helpers on their way are not among them.
func processes(t testing.TB, c *runtimetest.Container) (pids []string) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("/sys/fs/cgroup/pids/lanyard-"+c.ID, "cgroup.procs"))
	if err != nil {
		b, err = os.ReadFile(filepath.Join("/sys/fs/cgroup/lanyard-"+c.ID, "cgroup.procs"))
	}
	if err != nil {
		t.Fatal(err)
	}
	return strings.Fields(string(b))
}

// mountsBelow counts the mounts below the directory.
func mountsBelow(t testing.TB, dir string) (n int) {
	t.Helper()
	f, err := os.Open("/proc/self/mountinfo")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if fields := strings.Fields(lines.Text()); len(fields) > 4 && strings.HasPrefix(fields[4], dir+"/") {
			n++
		}
	}
	return n
}

// commandsWith counts the processes of this machine whose command line holds the text.
func commandsWith(t testing.TB, text string) (n int) {
	t.Helper()
	lines, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range lines {
		if b, err := os.ReadFile(l); err == nil && strings.Contains(string(b), text) {
			n++
		}
	}
	return n
}

// cgroups are those of the container that are left.
func cgroups(t testing.TB, id string) []string {
	t.Helper()
	var left []string
	for _, pattern := range []string{"/sys/fs/cgroup/lanyard-" + id, "/sys/fs/cgroup/*/lanyard-" + id} {
		found, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		left = append(left, found...)
	}
	return left
}

func auditID(id string) []envprecedence.Entry {
	return []envprecedence.Entry{envprecedence.NewEntry(execaudit.AuditIDName, id)}
}

func checkAuditID(t testing.TB, s *runtimetest.Session, want string) {
	t.Helper()
	r, err := report.Parse(s.Out.Bytes())
	if err != nil {
		t.Error(err)
		return
	}
	if got, _ := r.Get(execaudit.AuditIDName); got != want {
		t.Errorf("audit ID = %q, want %q", got, want)
	}
}
