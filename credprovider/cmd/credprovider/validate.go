package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/lanyard-dev/lanyard/credprovider"
	"github.com/lanyard-dev/lanyard/credprovider/configfile"
	"github.com/lanyard-dev/lanyard/credprovider/explain"
	"github.com/lanyard-dev/lanyard/credprovider/plugin"
)

func validateCommand() *cobra.Command {
	var tokens bool
	var binDir string
	cmd := &cobra.Command{
		Use:   "validate PATH",
		Short: "Check a configuration file, or a directory of them, by every rule, and warn about patterns",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return validate(cmd, args[0], credprovider.Gates{KubeletServiceAccountTokenForCredentialProviders: tokens}, binDir)
		},
	}
	cmd.Flags().BoolVar(&tokens, "service-account-tokens", true, "the gate KubeletServiceAccountTokenForCredentialProviders")
	cmd.Flags().StringVar(&binDir, "bin-dir", "", "the plugin directory: check that every executable is there")
	return cmd
}

// validate prints faults and warnings; warnings alone are not a failure.
func validate(cmd *cobra.Command, path string, gates credprovider.Gates, binDir string) error {
	loaded, err := configfile.Load(path)
	if err != nil {
		printLines(cmd.OutOrStdout(), faultLines(err)...)
		return errFound
	}
	found := false
	if err := credprovider.Validate(loaded.Config, gates); err != nil {
		printLines(cmd.OutOrStdout(), faultLines(err)...)
		found = true
	}
	if binDir != "" {
		if _, err := plugin.FindAll(loaded.Config.Providers, binDir, plugin.Options{}); err != nil {
			printLines(cmd.OutOrStdout(), faultLines(err)...)
			found = true
		}
	}
	for _, warning := range explain.Lint(loaded.Config) {
		printLines(cmd.OutOrStdout(), fmt.Sprintf("warning: %v", warning))
	}
	if found {
		return errFound
	}
	printLines(cmd.OutOrStdout(), fmt.Sprintf("%d providers in %d files, %s", len(loaded.Config.Providers), len(loaded.Files), loaded.Hash))
	return nil
}
