package main

import (
	"github.com/spf13/cobra"

	"github.com/lanyard-dev/lanyard/execaudit/bridge/cmd/lanyard-bridge/internal/install"
	"github.com/lanyard-dev/lanyard/execaudit/bridge/cmd/lanyard-bridge/internal/node"
)

// ofNodes are the commands that read or change a node.
func ofNodes() []*cobra.Command {
	return []*cobra.Command{
		node.Command(), node.Sessions(), install.Command(), install.UninstallCommand(), install.StatusCommand(),
	}
}
