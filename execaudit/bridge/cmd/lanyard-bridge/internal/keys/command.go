package keys

import "github.com/spf13/cobra"

// Command returns the command `keys`.
func Command() *cobra.Command {
	return &cobra.Command{Use: "keys", Short: "Make and rotate the webhook's keys"}
}
