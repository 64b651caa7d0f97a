package runtimeconf_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/lanyard-dev/lanyard/execaudit/bridge/cmd/lanyard-bridge/internal/runtimeconf"
)

var binaryName = []string{"plugins", "io.containerd.grpc.v1.cri", "containerd", "runtimes", "runc", "options", "BinaryName"}

const options = `[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc.options]`

func TestSetString(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"BRG-11 the line of the key is replaced", options + "\n  BinaryName = \"/usr/bin/runc\" # ours\n  Root = \"\"\n", options + "\n" +
			`# lanyard-bridge: begin "runc" instead of: BinaryName = "/usr/bin/runc" # ours` + "\n  BinaryName = \"/w\" # ours\n" + `# lanyard-bridge: end "runc"` + "\n  Root = \"\"\n"},
		{"BRG-11 a line is added behind the header", options + "\nRoot = \"\"", options + "\n# lanyard-bridge: begin \"runc\"\nBinaryName = \"/w\"\n# lanyard-bridge: end \"runc\"\nRoot = \"\""},
		{"BRG-11 a table is added at the end", "version = 2", "version = 2\n# lanyard-bridge: begin \"runc\"\n" + options + "\nBinaryName = \"/w\"\n# lanyard-bridge: end \"runc\"\n"},
		{
			"BRG-11 carriage returns stay", options + "\r\nBinaryName = 'runc'\r\n",
			options + "\r\n# lanyard-bridge: begin \"runc\" instead of: BinaryName = 'runc'\r\nBinaryName = \"/w\"\r\n# lanyard-bridge: end \"runc\"\r\n",
		},
		{
			"BRG-11 a dotted key", "[plugins.\"io.containerd.grpc.v1.cri\"]\ncontainerd.runtimes.runc.options.BinaryName = 'runc'",
			"[plugins.\"io.containerd.grpc.v1.cri\"]\n# lanyard-bridge: begin \"runc\" instead of: containerd.runtimes.runc.options.BinaryName = 'runc'\n" +
				"containerd.runtimes.runc.options.BinaryName = \"/w\"\n# lanyard-bridge: end \"runc\"",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, err := runtimeconf.SetString("config.toml", []byte(c.text), "runc", binaryName, "/w")
			if err != nil || string(p.After) != c.want {
				t.Fatalf("SetString(…) = %q, %v, want %q", p.After, err, c.want)
			}
			if back, err := p.Undo(p.After); err != nil || string(back) != c.text {
				t.Errorf("Undo(…) = %q, %v, want %q", back, err, c.text)
			}
		})
	}
	for _, c := range []struct {
		name, text string
		want       error
	}{
		{"BRG-11 an inline table is refused", "[plugins.\"io.containerd.grpc.v1.cri\".containerd.runtimes.runc]\noptions = {BinaryName = 'runc'}", runtimeconf.ErrForm},
		{"BRG-11 a string of several lines is refused", options + "\nBinaryName = '''\nrunc'''", runtimeconf.ErrForm},
		{"BRG-11 a number is refused", options + "\nBinaryName = 1", runtimeconf.ErrForm},
		{"BRG-11 a value in the place of a table is refused", "plugins = 1", runtimeconf.ErrForm},
		{"BRG-11 a broken file is refused", "[plugins", runtimeconf.ErrSyntax},
		{"BRG-11 marks of an earlier edit are refused", `# lanyard-bridge: begin "runc"`, runtimeconf.ErrMarked},
	} {
		t.Run(c.name, func(t *testing.T) {
			if p, err := runtimeconf.SetString("config.toml", []byte(c.text), "runc", binaryName, "/w"); !errors.Is(err, c.want) {
				t.Errorf("SetString(…) = %q, %v, want %v", p.After, err, c.want)
			}
		})
	}
}

func TestUndoAfterOtherChanges(t *testing.T) {
	p, err := runtimeconf.SetString("config.toml", []byte("version = 2\n"), "runc", binaryName, "/w")
	if err != nil {
		t.Fatal(err)
	}
	t.Run("BRG-11 only the installation's lines go", func(t *testing.T) {
		back, err := p.Undo([]byte("# mine\n" + string(p.After) + "[debug]\n"))
		if want := "# mine\nversion = 2\n[debug]\n"; err != nil || string(back) != want {
			t.Errorf("Undo(…) = %q, %v, want %q", back, err, want)
		}
	})
	t.Run("BRG-11 changed lines are left alone, and said", func(t *testing.T) {
		if _, err := p.Undo([]byte(strings.Replace(string(p.After), "/w", "/other", 1))); !errors.Is(err, runtimeconf.ErrNotFound) || !strings.Contains(err.Error(), "config.toml") {
			t.Errorf("Undo(…) = %v", err)
		}
	})
	t.Run("BRG-11 a broken file's error shows none of its lines", func(t *testing.T) {
		_, err := runtimeconf.SetString("config.toml", []byte("auth = \"s3cret\" x\n"), "runc", binaryName, "/w")
		if err == nil || strings.Contains(err.Error(), "s3cret") || !strings.Contains(err.Error(), "line 1") {
			t.Errorf("SetString(…) = %v", err)
		}
	})
}
