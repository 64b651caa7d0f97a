// Command execaudit-agent tells what the processes of a node's exec sessions do.
package main

import (
	_ "github.com/prometheus/client_golang/prometheus"
	_ "github.com/spf13/cobra"
	_ "golang.org/x/sys/unix"

	_ "github.com/lanyard-dev/lanyard/execaudit/agent"
	_ "github.com/lanyard-dev/lanyard/execaudit/bridge/spool"
	_ "github.com/lanyard-dev/lanyard/internal/terminal"
)

func main() {}
