package main

import (
	"flag"
	"fmt"

	"github.com/lanyard-dev/lanyard/kubeletauthz/privilege"
)

// lint prints what is wrong with the rules about the kubelet's API, one finding a line.
func lint(c console, args []string) (int, error) {
	flags := flag.NewFlagSet("lint", flag.ContinueOnError)
	var files many
	flags.Var(&files, "f", "")
	others, err := parse(flags, args)
	if err != nil {
		return exitUsage, err
	}
	if len(others) > 0 {
		return exitUsage, fmt.Errorf("%w: unexpected %q", errUsage, others[0])
	}
	m, code, err := input(c, files)
	if err != nil {
		return code, err
	}
	code = exitDone
	for _, r := range m.roles {
		for _, f := range privilege.Lint(r.kind, r.list) {
			c.line("%s rule %d: %s: %s: %s", r.title(), f.Rule+1, f.Code, f.Subject, f.Message)
			code = exitFound
		}
	}
	return m.code(code), nil
}
