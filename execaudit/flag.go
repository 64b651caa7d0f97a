package execaudit

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/lanyard-dev/lanyard/envprecedence"
)

// ErrNotAssignment is what errors of ParseAssignment and EnvFlag.Set unwrap to.
var ErrNotAssignment = errors.New("must be NAME=VALUE")

// ParseAssignment returns the entry that "NAME=VALUE" means, the argument of
// kubectl exec's --env. The name ends at the first '='; the value keeps all that
// follows, commas, spaces and further '=' included, and may be empty.
//
// The error unwraps to ErrNotAssignment when there is no '=' or the name is
// empty. It does not repeat text, which may be a value typed in the wrong place.
// Other rules are Validate's.
//
// Source: KEP-6035, kubectl.
func ParseAssignment(text string) (envprecedence.Entry, error) {
	name, value, found := strings.Cut(text, "=")
	switch {
	case !found:
		return envprecedence.Entry{}, fmt.Errorf("%w: there is no '='", ErrNotAssignment)
	case name == "":
		return envprecedence.Entry{}, fmt.Errorf("%w: the name is empty", ErrNotAssignment)
	}
	return envprecedence.NewEntry(name, value), nil
}

// EnvFlag collects a repeatable --env NAME=VALUE. Its pointer is a flag.Value and,
// without importing it, a pflag.Value. The zero value is an empty list. It is
// for one goroutine, as flags are.
type EnvFlag struct {
	envs []envprecedence.Entry
}

// Set appends the entry that text means. The error is ParseAssignment's with
// the position of the flag, counted from 1, before it.
func (f *EnvFlag) Set(text string) error {
	e, err := ParseAssignment(text)
	if err != nil {
		return fmt.Errorf("entry %d: %w", len(f.envs)+1, err)
	}
	f.envs = append(f.envs, e)
	return nil
}

// String returns the names, each as NAME=[redacted], joined by commas.
func (f EnvFlag) String() string {
	shown := make([]string, len(f.envs))
	for i, e := range f.envs {
		shown[i] = e.String()
	}
	return strings.Join(shown, ",")
}

// Format writes String whatever the verb.
func (f EnvFlag) Format(state fmt.State, _ rune) {
	_, _ = io.WriteString(state, f.String())
}

// Type returns the word that pflag prints for the argument.
func (f *EnvFlag) Type() string {
	return "NAME=VALUE"
}

// Envs returns a copy of the entries in the order of the flags; nil for none.
func (f *EnvFlag) Envs() []envprecedence.Entry {
	return append([]envprecedence.Entry(nil), f.envs...)
}
