package agent

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/lanyard-dev/lanyard/redact"
)

// ArgsMode is what becomes of arguments.
type ArgsMode uint8

// The modes.
const (
	// ArgsRedact replaces what looks like a secret by redact.Mark.
	ArgsRedact ArgsMode = iota
	// ArgsKeep tells them as they are.
	ArgsKeep
	// ArgsHash tells of each its HMAC-SHA-256, of which the first 16 hexadecimal digits.
	ArgsHash
	// ArgsOmit leaves them out.
	ArgsOmit
)

var argsModes = [...]string{"redact", "keep", "hash", "omit"}

// String returns the mode as ParseArgsPolicy takes it.
func (m ArgsMode) String() string { return argsModes[m&3] }

// ArgsPolicy says how arguments are told, since they can hold secrets. The zero value redacts.
//
// Redacting goes by patterns, and so is a help and no guarantee: the values of flags, variables, headers and fields
// whose names speak of passwords, tokens, keys, cookies or credentials; what stands before the @ in a URL; the word
// after Bearer or Basic; keys in PEM; tokens by the prefixes of their issuers; long hexadecimal and base64 texts. An
// argument that was cut is replaced as a whole.
type ArgsPolicy struct {
	Mode ArgsMode
	// Key is the key of ArgsHash. Without one anybody can hash what he guesses.
	Key redact.Bytes
	// Patterns are further ones for ArgsRedact. What they match within an argument is replaced.
	Patterns []*regexp.Regexp
}

// ErrArgsPolicy is what ParseArgsPolicy returns for a text that is not a mode.
var ErrArgsPolicy = errors.New(`not one of "redact", "keep", "hash" and "omit"`)

// ParseArgsPolicy returns the policy of a mode's name, without key and patterns. Its error is ErrArgsPolicy.
func ParseArgsPolicy(text string) (ArgsPolicy, error) {
	for mode, name := range argsModes {
		if text == name {
			return ArgsPolicy{Mode: ArgsMode(mode)}, nil
		}
	}
	return ArgsPolicy{}, fmt.Errorf("arguments %q: %w", text, ErrArgsPolicy)
}

// append appends the arguments of a block, each of which ends in a NUL, but for the last one of a block that was cut.
func (p ArgsPolicy) append(to []string, block []byte, cut bool) []string {
	if p.Mode == ArgsOmit {
		return to
	}
	var r redactor
	for len(block) > 0 {
		arg, rest, whole := bytes.Cut(block, []byte{0})
		to = append(to, p.tell(&r, arg, whole || !cut))
		block = rest
	}
	return to
}

func (p ArgsPolicy) tell(r *redactor, arg []byte, whole bool) string {
	switch {
	case p.Mode == ArgsHash:
		mac := hmac.New(sha256.New, p.Key.Reveal())
		mac.Write(arg)
		return hex.EncodeToString(mac.Sum(nil)[:8])
	case p.Mode == ArgsRedact && !whole:
		return redact.Mark
	}
	text := strings.ToValidUTF8(string(arg), "\uFFFD")
	if p.Mode == ArgsKeep {
		return text
	}
	text = r.next(text)
	for _, pattern := range p.Patterns {
		text = pattern.ReplaceAllLiteralString(text, redact.Mark)
	}
	return text
}
