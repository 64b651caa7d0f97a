// Command integrate builds containerd with our modules in its exec path, or writes the table of what it inserts. It runs
// in the directory of this module, whose go.mod pins containerd.
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/lanyard-dev/lanyard/peers/containerd"
)

func main() {
	work := flag.String("work", "", "`directory` for the patched files and the build's configuration")
	output := flag.String("output", "", "`file` to build containerd to")
	table := flag.String("table", "", "Markdown `file` whose table of what is inserted is renewed")
	flag.Parse()
	if err := run(*work, *output, *table); err != nil {
		fmt.Fprintln(os.Stderr, "integrate:", err)
		os.Exit(1)
	}
}

func run(work, output, table string) error {
	if flag.NArg() > 0 || (work == "") != (output == "") || (output == "") == (table == "") {
		return errors.New("want -work and -output, or -table, and nothing else")
	}
	if table != "" {
		return renew(table)
	}
	source, err := fetch()
	if err != nil {
		return err
	}
	// The go command is told of absolute paths only, whatever it takes relative ones to be relative to.
	if work, err = filepath.Abs(work); err != nil {
		return err
	}
	if output, err = filepath.Abs(output); err != nil {
		return err
	}
	return build(source, work, output)
}

// fetched is what the go command says of a module in its cache.
type fetched struct{ Version, Dir string }

// fetch finds containerd's source in the module cache, and downloads it if it is not there.
func fetch() (f fetched, err error) {
	version, err := version()
	if err != nil {
		return f, err
	}
	out, err := goCommand("mod", "download", "-json", containerd.Module+"@"+version)
	if err != nil {
		return f, err
	}
	return f, json.Unmarshal(out, &f)
}

// version is that of containerd in go.mod.
func version() (string, error) {
	out, err := goCommand("list", "-m", "-f", "{{.Version}}", containerd.Module)
	return string(bytes.TrimSpace(out)), err
}

func renew(file string) error {
	version, err := version()
	if err != nil {
		return err
	}
	document, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	renewed, err := containerd.Renew(string(document), containerd.Table(version, containerd.Patches()))
	if err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	return os.WriteFile(file, []byte(renewed), 0o644)
}

// build patches the source and has the go command build it. Files in the module cache cannot be overlaid, so the module
// is replaced by a symbolic link to its own directory there, below which they can be.
func build(source fetched, work, output string) error {
	if err := os.MkdirAll(work, 0o755); err != nil {
		return err
	}
	link := filepath.Join(work, "src")
	if err := os.Remove(link); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := os.Symlink(source.Dir, link); err != nil {
		return err
	}
	overlay, err := patch(link, filepath.Join(work, "patched"))
	if err != nil {
		return err
	}
	overlayFile, modFile := filepath.Join(work, "overlay.json"), filepath.Join(work, "go.mod")
	if err := os.WriteFile(overlayFile, overlay, 0o644); err != nil {
		return err
	}
	for _, name := range []string{"go.mod", "go.sum"} {
		if err := copyFile(name, filepath.Join(work, name)); err != nil {
			return err
		}
	}
	if _, err := goCommand("mod", "edit", "-replace="+containerd.Module+"="+link, modFile); err != nil {
		return err
	}
	_, err = goCommand("build", "-buildvcs=false", "-modfile="+modFile, "-overlay="+overlayFile, "-o", output, containerd.Main)
	return err
}

// patch writes the patched files below dir and returns the overlay that puts them into the source.
func patch(source, dir string) ([]byte, error) {
	replace := map[string]string{}
	for _, p := range containerd.Patches() {
		original, patched := filepath.Join(source, filepath.FromSlash(p.File)), filepath.Join(dir, filepath.FromSlash(p.File))
		text, err := os.ReadFile(original)
		if err != nil {
			return nil, err
		}
		if text, err = p.Apply(text); err != nil {
			return nil, err
		}
		if err := os.MkdirAll(filepath.Dir(patched), 0o755); err != nil {
			return nil, err
		}
		if err := os.WriteFile(patched, text, 0o644); err != nil {
			return nil, err
		}
		replace[original] = patched
	}
	return json.Marshal(map[string]any{"Replace": replace})
}

func copyFile(from, to string) error {
	b, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, b, 0o644)
}

// goCommand runs the go command outside of any workspace and returns what it prints.
func goCommand(args ...string) ([]byte, error) {
	cmd := exec.Command("go", args...)
	cmd.Env = append(os.Environ(), "GOWORK=off")
	var said bytes.Buffer
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go %s: %w: %s", args[0], err, bytes.TrimSpace(said.Bytes()))
	}
	return out, nil
}
