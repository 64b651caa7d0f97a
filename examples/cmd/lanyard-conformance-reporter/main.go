// Command lanyard-conformance-reporter is the program in the conformance suite's images, where the running program
// cannot be: a test binary with the race detector needs a C library that those images do not have.
package main

import (
	"fmt"
	"os"

	"github.com/lanyard-dev/lanyard/criconformance/reporter"
)

func main() {
	code, asked := reporter.Main(os.Args, os.Stdout, os.Stderr)
	if !asked {
		fmt.Fprintf(os.Stderr, "usage: lanyard-conformance-reporter %s say|pause\n", reporter.Argument)
		code = 2
	}
	os.Exit(code)
}
