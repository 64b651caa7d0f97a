package credproviderkubelet_test

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"k8s.io/klog/v2"

	"github.com/lanyard-dev/lanyard/credprovider"
	"github.com/lanyard-dev/lanyard/credprovider/configfile"
)

// binary is the plugin that both kubelets run: a program as small as the protocol allows.
var binary string

func TestMain(m *testing.M) {
	klog.LogToStderr(false)
	klog.SetOutput(io.Discard)
	dir, err := os.MkdirTemp("", "credprovider")
	if err == nil {
		binary = filepath.Join(dir, "plugin")
		var out []byte
		if out, err = exec.Command("go", "build", "-o", binary, "testdata/plugin/main.go").CombinedOutput(); err != nil {
			err = fmt.Errorf("%w: %s", err, out)
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := m.Run()
	os.RemoveAll(dir)
	os.Exit(code)
}

// write puts providers into a configuration file and their binaries into a plugin directory.
func write(tb testing.TB, providers []credprovider.Provider) (file, binDir string) {
	tb.Helper()
	binDir = tb.TempDir()
	for _, p := range providers {
		if err := os.Symlink(binary, filepath.Join(binDir, p.Name)); err != nil && p.Name != "" {
			continue // a name that no file can have is what some tests are about
		}
	}
	data, err := configfile.Encode(credprovider.Config{Kind: credprovider.ConfigKind, APIVersion: credprovider.ConfigV1, Providers: providers})
	if err != nil {
		tb.Fatal(err)
	}
	file = filepath.Join(tb.TempDir(), "config.json")
	if err := os.WriteFile(file, data, 0o600); err != nil {
		tb.Fatal(err)
	}
	return file, binDir
}

// providers returns those of a node with the numbers from first up to last: ten patterns each, the last with wildcards.
func providers(first, last int, duration time.Duration) []credprovider.Provider {
	var all []credprovider.Provider
	for i := first; i < last; i++ {
		p := credprovider.Provider{Name: fmt.Sprintf("p%d", i), APIVersion: credprovider.V1, DefaultCacheDuration: credprovider.NewDuration(duration)}
		for j := range 9 {
			p.MatchImages = append(p.MatchImages, fmt.Sprintf("registry%d.zone%d.example.io/team", j, i))
		}
		p.MatchImages = append(p.MatchImages, fmt.Sprintf("*.dkr.zone%d.*.example.io", i))
		all = append(all, p)
	}
	return all
}

// image is one that the first provider's last pattern matches.
const image = "123456789012.dkr.zone0.eu.example.io/team/app"
