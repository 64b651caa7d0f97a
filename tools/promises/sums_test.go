package promises_test

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lanyard-dev/lanyard/tools/house"
	"github.com/lanyard-dev/lanyard/tools/modproxy"
)

func TestSums(t *testing.T) {
	t.Run("MOD-10 each module's go.sum lists its siblings as they are", func(t *testing.T) {
		stale, err := modproxy.StaleSums(open(t))
		if err != nil {
			t.Fatal(err)
		}
		for _, dir := range stale {
			t.Errorf("%s/go.sum: %v", dir, modproxy.ErrSums)
		}
	})
}

// family is a repository of three modules, each of which requires the one before.
func family(t *testing.T) *house.House {
	t.Helper()
	root := repository(t)
	requires := func(dirs ...string) string {
		lines := "\ngo 1.25\n"
		for _, dir := range dirs {
			lines += "\nrequire " + house.Prefix + "/" + dir + " v0.1.0\n"
		}
		return lines
	}
	for name, text := range map[string]string{
		"LICENSE":           "for all",
		".gitignore":        "*.log\n",
		"modules.txt":       "a v0.1.0 library\nb v0.1.0 library\nb/cmd v0.1.0 tool\n",
		"a/go.mod":          "module " + house.Prefix + "/a\n" + requires(),
		"a/a.go":            "package a\n\nconst A = 1\n",
		"a/a.log":           "ignored",
		"b/go.mod":          "module " + house.Prefix + "/b\n" + requires("a"),
		"b/b.go":            "package b\n\nimport \"" + house.Prefix + "/a\"\n\nconst B = a.A\n",
		"b/LICENSE":         "of its own",
		"b/testdata/x y":    "a name with a space",
		"b/cmd/go.mod":      "module " + house.Prefix + "/b/cmd\n" + requires("a", "b"),
		"b/cmd/main.go":     "package main\n\nimport \"" + house.Prefix + "/b\"\n\nfunc main() { println(b.B) }\n",
		"b/cmd/.hidden":     "a file that git knows",
		"b/cmd/x/nested.go": "package x\n",
	} {
		write(t, root, name, text)
	}
	h, err := house.Open(root)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func TestSumsAtTags(t *testing.T) {
	t.Run("MOD-10 with the sums a module builds at its tag, from the repository itself", func(t *testing.T) {
		h := family(t)
		changed, err := modproxy.WriteSums(h, h.Modules)
		if err != nil || strings.Join(changed, " ") != "b b/cmd" {
			t.Fatalf("WriteSums = %v, %v, want b and b/cmd", changed, err)
		}
		if stale, err := modproxy.StaleSums(h); err != nil || len(stale) > 0 {
			t.Errorf("StaleSums after WriteSums = %v, %v", stale, err)
		}
		git(t, h.Root, "add", "-A")
		git(t, h.Root, "commit", "-qm", "all")
		for _, m := range h.Modules {
			git(t, h.Root, "tag", m.Dir+"/"+m.Version)
		}
		if out, err := direct(t, h, "b/cmd", "run", "."); err != nil || !strings.HasSuffix(out, "\n1\n") {
			t.Errorf("go run in b/cmd printed %q, %v", out, err)
		}
		var all struct{ Sum, GoModSum string }
		out, err := direct(t, h, "b/cmd", "mod", "download", "-json", house.Prefix+"/b@v0.1.0")
		if err == nil {
			err = json.Unmarshal([]byte(out), &all)
		}
		sums, readErr := os.ReadFile(filepath.Join(h.Root, "b/cmd/go.sum"))
		if err := errors.Join(err, readErr); err != nil {
			t.Fatal(err, out)
		}
		for _, want := range []string{"/b v0.1.0 " + all.Sum, "/b v0.1.0/go.mod " + all.GoModSum} {
			if !strings.Contains(string(sums), want+"\n") {
				t.Errorf("go.sum lacks %q:\n%s", want, sums)
			}
		}
	})
	t.Run("MOD-10 a sibling that changed since fails the proof, which says what to do", func(t *testing.T) {
		h := family(t)
		if _, err := modproxy.WriteSums(h, h.Modules); err != nil {
			t.Fatal(err)
		}
		write(t, h.Root, "a/a.go", "package a\n\nconst A = 2\n")
		if stale, err := modproxy.StaleSums(h); err != nil || strings.Join(stale, " ") != "b b/cmd" {
			t.Errorf("StaleSums = %v, %v, want b and b/cmd", stale, err)
		}
		for _, dir := range []string{"b", "b/cmd"} {
			m, err := h.Module(dir)
			if err != nil {
				t.Fatal(err)
			}
			var said strings.Builder
			if err := proxyOf(t, h.Root, h.Modules).Prove(&said, m); !errors.Is(err, modproxy.ErrSums) {
				t.Errorf("Prove(%s) = %v, want %v", dir, err, modproxy.ErrSums)
			}
		}
	})
	t.Run("MOD-10 a go.sum without its siblings fails the proof", func(t *testing.T) {
		h := family(t)
		m, err := h.Module("b")
		if err != nil {
			t.Fatal(err)
		}
		var said strings.Builder
		if err := proxyOf(t, h.Root, h.Modules).Prove(&said, m); !errors.Is(err, modproxy.ErrSums) {
			t.Errorf("Prove = %v, want %v", err, modproxy.ErrSums)
		}
	})
	t.Run("MOD-10 a required version that is not the tree's is refused", func(t *testing.T) {
		h := family(t)
		h.Modules[0].Version = "v0.2.0"
		if _, err := modproxy.Sums(h); err == nil || !strings.Contains(err.Error(), "b requires") {
			t.Errorf("Sums error = %v, want one that names both", err)
		}
	})
}

// direct runs the go command in a module, which fetches the siblings from the
// repository at their tags, as if it were where its users have it.
func direct(t *testing.T, h *house.House, dir string, args ...string) (string, error) {
	t.Helper()
	cmd := exec.Command("go", args...)
	cmd.Dir = filepath.Join(h.Root, dir)
	cmd.Env = append(
		os.Environ(),
		"GOWORK=off", "GOFLAGS=-mod=readonly -modcacherw", "GOPROXY=direct", "GOVCS=*:git", "GONOSUMDB="+house.Prefix, "GOMODCACHE="+t.TempDir(),
		"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=url.file://"+h.Root+".insteadOf", "GIT_CONFIG_VALUE_0=https://"+house.Prefix,
	)
	var said strings.Builder
	cmd.Stdout, cmd.Stderr = &said, &said
	err := cmd.Run()
	return said.String(), err
}
