package source

import (
	"os"
	"path/filepath"
	"strings"
)

// Where says where an image is looked for. Values are made by Given and Reference, and can be compared.
type Where struct {
	text  string
	local bool // text is a path
	given bool // from the command line, by the person at the terminal
}

// Given returns where an image is that the person running the tool names. It is local when it begins as a path: with
// "/", "./" or "../", on Windows also with a drive or a backslash. Everything else is a reference to a registry,
// whatever files there are: a file app.tar is written ./app.tar.
func Given(text string) Where { return Where{text: text, local: isPath(text), given: true} }

// Reference returns the registry that a pod's image names. It is never local: a manifest must not say which files are
// read where the tool runs.
func Reference(ref string) Where { return Where{text: ref} }

// String returns the text as it was given, untrusted.
func (w Where) String() string { return w.text }

func isPath(text string) bool {
	slashed := filepath.ToSlash(text) + "/" // "." and ".." are directories too
	return filepath.IsAbs(text) || text != "" && strings.HasPrefix(slashed, "/") ||
		strings.HasPrefix(slashed, "./") || strings.HasPrefix(slashed, "../")
}

// mistaken reports whether a reference that cannot be read was probably meant for a file.
func (w Where) mistaken() bool {
	if !w.given || w.local {
		return false
	}
	_, err := os.Stat(w.text)
	return err == nil
}
