package main

import (
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/lanyard-dev/lanyard/credprovider"
	"github.com/lanyard-dev/lanyard/credprovider/pluginsdk/check"
	"github.com/lanyard-dev/lanyard/redact"
)

func checkCommand() *cobra.Command {
	var options check.Options
	var tokenFile, cacheType string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "check-plugin PATH [-- ARGS]",
		Short: "Take a plugin through the protocol",
		Args:  cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			options.Args, options.CacheType = redact.Texts(args[1:]...), credprovider.TokenCacheType(cacheType)
			if tokenFile != "" {
				data, err := os.ReadFile(tokenFile)
				if err != nil {
					return err
				}
				options.Token = redact.New(strings.TrimSpace(string(data)))
				if options.Token.IsEmpty() {
					return fmt.Errorf("%s: no token in it", tokenFile)
				}
			}
			return checkPlugin(cmd, args[0], options, asJSON)
		},
	}
	cmd.Flags().StringVar(&options.Image, "image", "", "the image of the requests")
	cmd.Flags().StringVar(&options.APIVersion, "api-version", credprovider.V1, "the version that the plugin must speak")
	cmd.Flags().StringVar(&tokenFile, "token-file", "", "a file with a service account token to send; a token in an argument would be seen by everyone")
	cmd.Flags().StringToStringVar(&options.Annotations, "annotation", nil, "an annotation to send, KEY=VALUE")
	cmd.Flags().StringVar(&cacheType, "cache-type", string(credprovider.CacheByServiceAccount), "the provider's cacheType: ServiceAccount or Token")
	cmd.Flags().DurationVar(&options.Timeout, "timeout", 10*time.Second, "the time limit of a run")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func checkPlugin(cmd *cobra.Command, path string, options check.Options, asJSON bool) error {
	report := check.Run(cmd.Context(), path, options)
	if asJSON {
		if err := printJSON(cmd.OutOrStdout(), report, "  "); err != nil {
			return err
		}
	} else {
		printLines(cmd.OutOrStdout(), linesOf(report)...)
	}
	switch report.Outcome() {
	case check.StatusPass:
		return nil
	case check.StatusInconclusive:
		return errInconclusive
	}
	return errFound
}
