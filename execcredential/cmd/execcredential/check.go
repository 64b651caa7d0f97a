package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/lanyard-dev/lanyard/execcredential"
	"github.com/lanyard-dev/lanyard/pluginexec"
	"github.com/lanyard-dev/lanyard/redact"
)

// errFaults is the end of a check that has found something.
var errFaults = errors.New("the plugin has faults")

func checkCommand() *cobra.Command {
	versions := []string{execcredential.V1}
	limits := defaultLimits
	cmd := &cobra.Command{
		Use:   "check-plugin [--api-version VERSION] -- COMMAND [ARG...]",
		Short: "Run a plugin as a client would, and check its answer strictly",
		Args:  cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return check(cmd.Context(), cmd.OutOrStdout(), args, versions, limits)
		},
	}
	cmd.Flags().StringSliceVar(&versions, "api-version", versions, "versions to check")
	limits.register(cmd.Flags())
	return cmd
}

// check asks the plugin once in each version, without a terminal.
func check(ctx context.Context, out io.Writer, args, versions []string, limits limits) error {
	path, err := pluginexec.Lookup(args[0])
	if err != nil {
		return err
	}
	faulty := false
	for _, version := range versions {
		config := execcredential.ExecConfig{Command: path, Args: redact.Texts(args[1:]...), APIVersion: version, InteractiveMode: execcredential.InteractiveNever}
		if err := config.Validate(); err != nil {
			return err
		}
		faults := checkVersion(ctx, config, limits)
		for _, fault := range faults {
			line(out, "%s: %s", version, fault)
		}
		if len(faults) == 0 {
			line(out, "%s: ok", version)
		}
		faulty = faulty || len(faults) > 0
	}
	if faulty {
		return errFaults
	}
	return nil
}

func checkVersion(ctx context.Context, config execcredential.ExecConfig, limits limits) []string {
	info, err := execcredential.Info(config, nil, false)
	if err != nil {
		return []string{text(err)}
	}
	result, err := pluginexec.Run(ctx, pluginexec.Command{
		Path: config.Command, Args: config.Args, Env: execcredential.Environ(os.Environ(), config, info),
		Timeout: limits.timeout,
	})
	if err != nil {
		return []string{text(err)}
	}
	credential, err := execcredential.ParseAnswer(result.Stdout.Reveal(), config.APIVersion)
	if err != nil {
		return []string{text(err)}
	}
	return append(strict(result.Stdout.Reveal()), lint(credential, time.Now())...)
}

// strict finds what clients tolerate today: YAML, a missing kind, fields that nobody reads.
func strict(output []byte) []string {
	var object map[string]json.RawMessage
	if err := json.Unmarshal(output, &object); err != nil {
		return []string{"the answer is not JSON; clients in other languages may not read YAML"}
	}
	var faults []string
	if _, ok := object["kind"]; !ok {
		faults = append(faults, "the answer has no kind")
	}
	var status map[string]json.RawMessage
	_ = json.Unmarshal(object["status"], &status) // ParseAnswer has read it
	faults = append(faults, unknown("", object, "kind", "apiVersion", "spec", "status")...)
	return append(faults, unknown("status.", status, "expirationTimestamp", "token", "clientCertificateData", "clientKeyData")...)
}

func unknown(prefix string, fields map[string]json.RawMessage, known ...string) []string {
	extra := 0
	for name := range fields {
		if !strings.Contains(" "+strings.Join(known, " ")+" ", " "+name+" ") {
			extra++
		}
	}
	if extra == 0 {
		return nil
	}
	return []string{fmt.Sprintf("%sunknown fields: %d; known are %s", prefix, extra, strings.Join(known, ", "))}
}

// lint finds credentials that will not serve long.
func lint(credential *execcredential.Credential, now time.Time) []string {
	var faults []string
	switch {
	case credential.Expires().IsZero():
		faults = append(faults, "no expirationTimestamp: clients keep the credential for their whole life")
	case !credential.ValidAt(now):
		faults = append(faults, "the expirationTimestamp is in the past")
	}
	if certificate := credential.Certificate(); certificate != nil && certificate.Leaf.NotAfter.Before(credential.Expires()) {
		faults = append(faults, "the certificate ends before the expirationTimestamp")
	}
	return faults
}
