package runtime

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	specs "github.com/opencontainers/runtime-spec/specs-go"

	"github.com/lanyard-dev/lanyard/examples/runtime/monitor"
)

// rawEnvFile holds the environment of a container's first process, if JSON cannot.
const rawEnvFile = "env"

// writeRaw changes a process whose environment has bytes that are not UTF-8, which its JSON form cannot carry: the
// environment goes into a file of the container's directory, and the command is to be reached through the monitor's
// program. Any other process stays as it is.
func (c *container) writeRaw(p *specs.Process, file string) error {
	if !slices.ContainsFunc(p.Env, func(e string) bool { return !utf8.ValidString(e) }) {
		return nil
	}
	raw := strings.Join(p.Env, "\x00") + "\x00"
	p.Args = append(monitor.BecomeCommand[:], p.Args...)
	// The low-level runtime still needs what it looks at itself, such as PATH and HOME.
	p.Env = slices.DeleteFunc(slices.Clone(p.Env), func(e string) bool { return !utf8.ValidString(e) })
	return os.WriteFile(filepath.Join(c.dir, file), []byte(raw), 0o600)
}

// raw is the path of the file that writeRaw wrote; empty if it wrote none.
func (c *container) raw(file string) string {
	path := filepath.Join(c.dir, file)
	if _, err := os.Stat(path); err != nil {
		return ""
	}
	return path
}

func toBytes(env []string) [][]byte {
	out := make([][]byte, len(env))
	for i, e := range env {
		out[i] = []byte(e)
	}
	return out
}

func toStrings(env [][]byte) []string {
	out := make([]string, len(env))
	for i, e := range env {
		out[i] = string(e)
	}
	return out
}
