package environ_test

import (
	"slices"
	"strings"
	"testing"
)

// sorted returns the environment as a set, since every contender has an order of its own.
func sorted(environ []string) []string { return slices.Sorted(slices.Values(environ)) }

func TestSameEnvironment(t *testing.T) {
	for _, size := range append(slices.Clone(grid), [2]int{0, 0}, [2]int{0, 3}, [2]int{3, 0}) {
		base, overrides := entries(size[0], size[1])
		want := sorted(containerd(t, base)(overrides))
		for _, c := range []contender{{"lanyard", unprepared}, {"lanyard, prepared", prepared}, {"moby", moby}, {"map", naive}} {
			t.Run("ENV-2 ENV-4 containerd's environment for clean input, "+c.name, func(t *testing.T) {
				if got := sorted(c.prepare(t, base)(overrides)); !slices.Equal(got, want) {
					t.Errorf("%d over %d entries give %d entries, want the %d of containerd", size[1], size[0], len(got), len(want))
				}
			})
		}
	}
}

// peerFaults are merges in which a peer and the KEP disagree.
var peerFaults = []struct {
	name            string
	base, overrides []string
	peer            func(tb testing.TB, base []string) merge
	theirs, ours    []string
}{
	{
		"ENV-3 containerd keeps a new key that comes twice",
		[]string{"B=1"},
		[]string{"A=1", "A=2"},
		containerd,
		[]string{"B=1", "A=1", "A=2"},
		[]string{"A=2", "B=1"},
	},
	{
		"ENV-3 moby keeps a new key that comes twice",
		[]string{"B=1"},
		[]string{"A=1", "A=2"},
		moby,
		[]string{"B=1", "A=1", "A=2"},
		[]string{"A=2", "B=1"},
	},
	{
		"ENV-4 containerd replaces only the last of two baseline entries",
		[]string{"A=1", "A=2"},
		[]string{"A=3"},
		containerd,
		[]string{"A=1", "A=3"},
		[]string{"A=3"},
	},
	{
		"ENV-6 containerd appends what is injected",
		[]string{"B=1"},
		[]string{"KUBERNETES_EXEC_AUDIT_ID=f4a3"},
		containerd,
		[]string{"B=1", "KUBERNETES_EXEC_AUDIT_ID=f4a3"},
		[]string{"KUBERNETES_EXEC_AUDIT_ID=f4a3", "B=1"},
	},
	{
		"ENV-10 containerd passes an entry without equals sign on to runc, which refuses the exec",
		[]string{"NOEQUALS", "B=1"},
		[]string{"A=1"},
		containerd,
		[]string{"NOEQUALS", "B=1", "A=1"},
		[]string{"A=1", "B=1"},
	},
}

func TestPeerFaults(t *testing.T) {
	for _, c := range peerFaults {
		t.Run(c.name, func(t *testing.T) {
			if got := c.peer(t, c.base)(c.overrides); !slices.Equal(got, c.theirs) {
				t.Errorf("the peer merges to %q, want its known %q", got, c.theirs)
			}
			if got := unprepared(t, c.base)(c.overrides); !slices.Equal(got, c.ours) {
				t.Errorf("Merge(…) = %q, want %q", got, c.ours)
			}
			if got := prepared(t, c.base)(c.overrides); !slices.Equal(got, c.ours) {
				t.Errorf("Prepare(…).Merge(…) = %q, want %q", got, c.ours)
			}
		})
	}
	t.Run("ENV-7 the input stays, where moby edits it", func(t *testing.T) {
		base := []string{"A=1"}
		unprepared(t, base)([]string{"A=2"})
		prepared(t, base)([]string{"A=2"})
		if strings.Join(base, " ") != "A=1" {
			t.Errorf("the baseline reads %q, want A=1", base)
		}
	})
}
