package journal_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/lanyard-dev/lanyard/execaudit/journal"
)

func TestNames(t *testing.T) {
	path := filepath.Join(t.TempDir(), "events.jsonl")
	put := func(names ...string) {
		t.Helper()
		for _, name := range names {
			if err := os.WriteFile(name, nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	files := func() []string {
		t.Helper()
		all, err := journal.Files(path)
		if err != nil {
			t.Fatal(err)
		}
		return all
	}
	t.Run("EXA-39 the number is above the last one's and every file's", func(t *testing.T) {
		put(path, path+".00000003", path+".00000012", path+".99", path+".away")
		for _, c := range []struct {
			last, want uint64
			name       string
		}{{0, 13, ".00000013"}, {12, 13, ".00000013"}, {20, 21, ".00000021"}} {
			if name, n, err := journal.NextName(path, c.last); err != nil || n != c.want || name != path+c.name {
				t.Errorf("NextName(%d) = %q, %d, %v, want %d", c.last, name, n, err, c.want)
			}
		}
	})
	t.Run("EXA-39 the newest are kept, and what is no rotated file stays", func(t *testing.T) {
		for _, c := range []struct {
			keep int
			want []string
		}{
			{0, []string{path + ".00000003", path + ".00000012", path}},
			{2, []string{path + ".00000003", path + ".00000012", path}},
			{1, []string{path + ".00000012", path}},
		} {
			if err := journal.Retire(path, c.keep); err != nil || !slices.Equal(files(), c.want) {
				t.Errorf("Retire(%d) = %v, and there are %q, want %q", c.keep, err, files(), c.want)
			}
		}
		for _, name := range []string{path + ".99", path + ".away"} {
			if _, err := os.Stat(name); err != nil {
				t.Error(err)
			}
		}
	})
	t.Run("EXA-39 a directory that cannot be read is an error", func(t *testing.T) {
		nowhere := filepath.Join(t.TempDir(), "none", "events.jsonl")
		_, _, err := journal.NextName(nowhere, 0)
		if !errors.Is(err, os.ErrNotExist) || !errors.Is(journal.Retire(nowhere, 1), os.ErrNotExist) {
			t.Errorf("NextName = %v, Retire = %v, want %v", err, journal.Retire(nowhere, 1), os.ErrNotExist)
		}
	})
}
