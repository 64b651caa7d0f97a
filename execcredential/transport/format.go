package transport

import (
	"fmt"
	"io"
)

// Format names the plugin, for every verb: fmt would follow pointers.
func (s *Source) Format(state fmt.State, _ rune) {
	fmt.Fprintf(state, "credential source of %q", s.config.Command)
}

// Format writes "credential pool" for every verb.
func (p *Pool) Format(state fmt.State, _ rune) { _, _ = io.WriteString(state, "credential pool") }

// Format names the plugin, for every verb.
func (rt *RoundTripper) Format(state fmt.State, _ rune) {
	fmt.Fprintf(state, "round tripper with credentials of %q", rt.source.config.Command)
}
