// Command lanyard-monitor starts one container and stays with it. The reference runtime runs it; see package shim.
package main

import (
	"os"

	"github.com/lanyard-dev/lanyard/examples/runtime/shim"
)

func main() { os.Exit(shim.Main(os.Args[1:])) }
