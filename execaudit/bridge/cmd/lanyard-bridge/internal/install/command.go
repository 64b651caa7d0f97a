package install

import "github.com/spf13/cobra"

// Command returns the command `install`.
func Command() *cobra.Command {
	return &cobra.Command{Use: "install", Short: "Put the wrapper on a node"}
}

// Uninstall returns the command `uninstall`.
func Uninstall() *cobra.Command {
	return &cobra.Command{Use: "uninstall", Short: "Take the wrapper off a node"}
}

// Status returns the command `status`.
func Status() *cobra.Command {
	return &cobra.Command{Use: "status", Short: "Tell what is installed on a node"}
}
