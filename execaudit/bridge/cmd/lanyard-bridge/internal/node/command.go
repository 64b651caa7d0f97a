package node

import "github.com/spf13/cobra"

// Command returns the command `node`.
func Command() *cobra.Command { return &cobra.Command{Use: "node", Short: "Run the daemon of a node"} }

// Sessions returns the command `sessions`.
func Sessions() *cobra.Command {
	return &cobra.Command{Use: "sessions", Short: "Tell whose sessions there were"}
}
