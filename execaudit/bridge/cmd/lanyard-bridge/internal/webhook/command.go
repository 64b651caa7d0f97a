package webhook

import "github.com/spf13/cobra"

// Command returns the command `webhook`.
func Command() *cobra.Command {
	return &cobra.Command{Use: "webhook", Short: "Serve the admission webhook"}
}
