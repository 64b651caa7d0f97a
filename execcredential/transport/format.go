package transport

import "fmt"

// String names the plugin.
func (s *Source) String() string { return fmt.Sprintf("credential source of %q", s.config.Command) }

// Format writes String for every verb: fmt would follow pointers to the plugin's environment.
func (s *Source) Format(state fmt.State, _ rune) { fmt.Fprint(state, s.String()) }

// String returns "credential pool".
func (p *Pool) String() string { return "credential pool" }

// Format writes String for every verb.
func (p *Pool) Format(state fmt.State, _ rune) { fmt.Fprint(state, p.String()) }

// String names the plugin.
func (rt *RoundTripper) String() string {
	return fmt.Sprintf("round tripper with credentials of %q", rt.source.config.Command)
}

// Format writes String for every verb.
func (rt *RoundTripper) Format(state fmt.State, _ rune) { fmt.Fprint(state, rt.String()) }
