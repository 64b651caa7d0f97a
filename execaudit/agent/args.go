package agent

import (
	"bytes"
	"strings"
)

// ArgsPolicy says how arguments are told, since they can hold secrets.
type ArgsPolicy struct{}

func (p ArgsPolicy) append(to []string, args []byte, cut bool) []string {
	for len(args) > 0 {
		arg, rest, _ := bytes.Cut(args, []byte{0})
		to = append(to, strings.ToValidUTF8(string(arg), "\uFFFD"))
		args = rest
	}
	return to
}
