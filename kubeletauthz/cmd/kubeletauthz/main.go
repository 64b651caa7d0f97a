// Command kubeletauthz answers questions about access to the kubelet's API: what a request asks for, who is allowed to
// make it, which rules are too wide, and which are enough.
//
//	kubeletauthz explain GET /pods
//	kubeletauthz can --as system:serviceaccount:monitoring:agent GET /pods -f rbac.yaml
//	kubeletauthz lint -f rbac.yaml
//	kubeletauthz minimize --endpoints "GET /pods,GET /stats/summary" --min-version 1.33 -f rbac.yaml
//
// It reads Kubernetes YAML or JSON, any number of documents in a file, "-" for standard input, and needs no cluster.
//
// A document is used, or named on standard error as not RBAC, or refused there with its place; the rest is still
// judged.
//
// A version newer than the newest known is treated as the newest known, which a line on standard error says.
//
// Exit codes: 0 done, allowed, or nothing found; 1 an input, or a part of one, cannot be read, or no role was read; 2
// usage; 3 refused, something found, or a wildcard left.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/lanyard-dev/lanyard/kubeletauthz"
)

func main() { os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) }

// The exit codes.
const (
	exitDone  = 0
	exitInput = 1
	exitUsage = 2
	exitFound = 3
)

const usage = `usage:
  kubeletauthz explain [--version 1.36] [--hardened] [METHOD] PATH
  kubeletauthz can --as USER [--as-group GROUP] [--version 1.36] [--node NAME] [--hardened] [METHOD] PATH -f FILE
  kubeletauthz lint -f FILE
  kubeletauthz minimize --endpoints "GET /pods,..." [--min-version 1.31] [--hardened] [--role NAME] [-f FILE]
PATH is the kubelet's, or /api/v1/nodes/{node}/proxy/... for a call through the API server.
FILE contains any number of YAML or JSON documents; - is standard input.
`

// errUsage wraps what is wrong with the command line.
var errUsage = errors.New("usage")

func run(args []string, in io.Reader, out, errs io.Writer) int {
	c := console{in, out, errs}
	commands := map[string]func(console, []string) (int, error){
		"explain": explain, "can": can, "lint": lint, "minimize": minimize,
	}
	if len(args) == 0 || commands[args[0]] == nil {
		fmt.Fprint(errs, usage)
		return exitUsage
	}
	code, err := commands[args[0]](c, args[1:])
	if errors.Is(err, flag.ErrHelp) {
		fmt.Fprint(out, usage)
		return exitDone
	}
	if err != nil {
		c.note("kubeletauthz %s: %s", args[0], oneText(err))
	}
	if errors.Is(err, errUsage) {
		fmt.Fprint(errs, usage)
	}
	return code
}

// oneText is an error's text on one line.
func oneText(err error) string { return strings.ReplaceAll(err.Error(), "\n", "; ") }

// parse reads flags before, between and after the other arguments, which it returns.
func parse(flags *flag.FlagSet, args []string) ([]string, error) {
	flags.SetOutput(io.Discard)
	var others []string
	for {
		if err := flags.Parse(args); err != nil {
			return nil, fmt.Errorf("%w: %w", errUsage, err)
		}
		if flags.NArg() == 0 {
			return others, nil
		}
		others = append(others, flags.Arg(0))
		args = flags.Args()[1:]
	}
}

// many is a flag that may be given several times.
type many []string

func (m *many) String() string { return strings.Join(*m, ",") }

// Set adds a value.
func (m *many) Set(value string) error {
	*m = append(*m, value)
	return nil
}

// minor is a flag for a known Kubernetes version, and the console that is told of a newer one.
type minor struct {
	kubeletauthz.Minor
	console console
}

// Set reads a version such as 1.36, and of a newer one than is known takes the newest known.
func (m *minor) Set(value string) error {
	asked, err := kubeletauthz.ParseMinor(value)
	if err != nil {
		return err
	}
	known, same := asked.Known()
	if !same {
		m.console.note("kubeletauthz: version %s is newer than %s, the newest known version, and is treated as %s", asked, known, known)
	}
	m.Minor = known
	return nil
}
