//go:build linux

// Package early executes the real runtime for calls that plainly have no token, while the program is being initialised.
// It is imported for that effect alone.
//
// Most calls of a runtime have no token: each probe is one. What the rest of lanyard-oci imports, the cryptography above
// all, takes a fifth of such a call's time to be initialised, and is not needed. A package's initialisation runs when
// those of its imports have, packages in the order of their paths; so this one imports package syscall, and of the rest
// only what initialises nothing: not even package strings. What it is not sure of
// (a token, an unusual configuration, a file that cannot be read) it leaves to package main, which decides for all.
package early

import (
	"syscall"

	"github.com/lanyard-dev/lanyard/execaudit/bridge/internal/front"
	"github.com/lanyard-dev/lanyard/execaudit/bridge/internal/jsonspan"
)

// The main thread runs it, and executes the runtime, whose process this is.
func init() {
	args := arguments(read("/proc/self/cmdline", 1<<20))
	if runtime := configured(); len(args) > 0 && runtime.path != "" && plain(args[1:], runtime) && !self(runtime.path) {
		args[0] = runtime.path
		_ = syscall.Exec(runtime.path, args, syscall.Environ()) // why it fails, main finds and says
	}
}

// arguments returns what the kernel ends each by a NUL byte.
func arguments(text []byte) (args []string) {
	start := 0
	for i, c := range text {
		if c == 0 {
			args = append(args, string(text[start:i]))
			start = i + 1
		}
	}
	return args
}

// setting is what of the configuration counts here.
type setting struct {
	path        string
	passThrough bool
}

// configured returns the runtime's path, "" if package main is to look at the configuration.
func configured() setting {
	link := make([]byte, 4096)
	n, err := syscall.Readlink("/proc/self/exe", link)
	if err != nil || n == len(link) {
		return setting{}
	}
	for _, name := range front.ConfigPaths(front.Executable(string(link[:n]))) {
		if text := read(name, 64<<10); text != nil {
			return parse(text)
		}
	}
	return setting{}
}

// The names in a configuration, of which the first must be there, the first two always.
var (
	names = [...]string{
		"version", "runtime", "keys", "spool", "node", "handler", "mark", "failure", "passThrough", "skew", "unmarkedNamespaces",
	}
	required, requiredAlways = 5, 2
)

// parse reads a configuration of the usual form: each name once, no others, and nothing that concerns all calls.
func parse(text []byte) setting {
	root, err := jsonspan.Parse(text)
	if err != nil {
		return setting{}
	}
	var s setting
	var seen [len(names)]bool
	for name, at := range jsonspan.Members(text, root) {
		i := 0
		for i < len(names) && names[i] != name {
			i++
		}
		if i == len(names) || seen[i] {
			return setting{}
		}
		seen[i] = true
		value, ok := jsonspan.String(text, at)
		switch name {
		case "version":
			var version uint64
			version, ok = jsonspan.Uint(text, at)
			ok = ok && version == 1
		case "runtime":
			s.path, ok = value, absolute(value)
		case "keys", "spool":
			ok = absolute(value)
		case "node":
			ok = value != ""
		case "mark":
			ok = ok && (value == "" || value == "sessions" || value == "off")
		case "failure":
			ok = ok && (value == "" || value == "closed" || value == "open")
		case "passThrough":
			s.passThrough, ok = jsonspan.Bool(text, at)
		case "unmarkedNamespaces":
			_, ok = jsonspan.Strings(text, at)
		}
		if !ok {
			return setting{}
		}
	}
	need := required
	if s.passThrough {
		need = requiredAlways
	}
	for _, ok := range seen[:need] {
		if !ok {
			return setting{}
		}
	}
	return s
}

func absolute(path string) bool { return len(path) > 0 && path[0] == '/' }

// tokenPrefix is token.Prefix, whose package is one of those that are not to be waited for.
const tokenPrefix = "lanyard-exec:"

// plain reports whether a call surely has no token.
func plain(args []string, s setting) bool {
	if s.passThrough {
		return true
	}
	call := front.ParseCall(args)
	if call.Command != "exec" {
		return true
	}
	if call.Process == "" {
		for _, arg := range call.Rest {
			if jsonspan.Contains([]byte(arg), tokenPrefix) {
				return false
			}
		}
		return true
	}
	var stat syscall.Stat_t
	if syscall.Lstat(call.Process, &stat) != nil || stat.Mode&syscall.S_IFMT != syscall.S_IFREG {
		return false
	}
	text := read(call.Process, 1<<20)
	return text != nil && !jsonspan.Contains(text, tokenPrefix)
}

// self reports whether the runtime is this very program, which package main complains of.
func self(runtime string) bool {
	var own, other syscall.Stat_t
	return syscall.Stat("/proc/self/exe", &own) != nil || syscall.Stat(runtime, &other) != nil || own.Dev == other.Dev && own.Ino == other.Ino
}

// read returns the content of a file, nil if it cannot be read or has limit bytes or more.
func read(name string, limit int) []byte {
	fd, err := syscall.Open(name, syscall.O_RDONLY|syscall.O_CLOEXEC|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil
	}
	defer syscall.Close(fd)
	text := make([]byte, 0, 4<<10)
	for len(text) < limit {
		if len(text) == cap(text) {
			text = append(text, 0)[:len(text)]
		}
		n, err := syscall.Read(fd, text[len(text):cap(text)])
		switch {
		case err == syscall.EINTR:
		case err != nil:
			return nil
		case n == 0:
			return text
		default:
			text = text[:len(text)+n]
		}
	}
	return nil
}
