package main

import (
	"github.com/spf13/cobra"

	"github.com/lanyard-dev/lanyard/execaudit/agent/cmd/execaudit-agent/internal/probe"
	"github.com/lanyard-dev/lanyard/execaudit/agent/cmd/execaudit-agent/internal/run"
	"github.com/lanyard-dev/lanyard/execaudit/agent/cmd/execaudit-agent/internal/status"
	"github.com/lanyard-dev/lanyard/execaudit/agent/cmd/execaudit-agent/internal/top"
)

// ofNodes are the commands that run on a node.
func ofNodes() []*cobra.Command {
	return []*cobra.Command{run.Command(), status.Command(), probe.Command(), top.Command()}
}
