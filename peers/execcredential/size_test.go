package execcredential_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

func TestWeightOfAMinimalClient(t *testing.T) {
	measure := func(name string) (bytes int64, packages int) {
		t.Helper()
		binary := filepath.Join(t.TempDir(), name)
		build := exec.Command("go", "build", "-buildvcs=false", "-ldflags=-s -w", "-o", binary, "./minimal/"+name)
		build.Env = append(os.Environ(), "GOWORK=off")
		if out, err := build.CombinedOutput(); err != nil {
			t.Fatalf("build: %v\n%s", err, out)
		}
		info, err := os.Stat(binary)
		if err != nil {
			t.Fatal(err)
		}
		list := exec.Command("go", "list", "-deps", "-f", "{{if not .Standard}}{{.ImportPath}}{{end}}", "./minimal/"+name)
		list.Env = build.Env
		out, err := list.Output()
		if err != nil {
			t.Fatal(err)
		}
		for path := range strings.FieldsSeq(string(out)) {
			if !strings.HasPrefix(path, "github.com/lanyard-dev/lanyard/") { // as the budget counts them
				packages++
			}
		}
		return info.Size(), packages
	}
	t.Run("ECR-23 a minimal client needs at most 8 packages beyond the house and is smaller than client-go's", func(t *testing.T) {
		ours, ourPackages := measure("lanyard")
		theirs, theirPackages := measure("client-go")
		t.Logf("lanyard %.1f MB, %d packages; client-go %.1f MB, %d packages; ratio %.2f",
			float64(ours)/1e6, ourPackages, float64(theirs)/1e6, theirPackages, float64(ours)/float64(theirs))
		if ourPackages > 8 || ours >= theirs {
			t.Errorf("lanyard %d bytes, %d packages; client-go %d, %d", ours, ourPackages, theirs, theirPackages)
		}
	})
}
