package parts

import "os"

// TB is the part of testing.TB that [Need] wants, so that this package does not bring testing into programs.
type TB interface {
	Helper()
	Skip(args ...any)
}

// Need returns the paths of the programs in the same order. The test is skipped with the reason when one is missing, or
// when it does not run as root, without which no container starts here.
func Need(t TB, names ...string) []string {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("needs root")
	}
	out := make([]string, len(names))
	for i, name := range names {
		path, err := Find(name)
		if err != nil {
			t.Skip(err)
		}
		out[i] = path
	}
	return out
}
