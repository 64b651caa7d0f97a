package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/lanyard-dev/lanyard/execcredential"
	"github.com/lanyard-dev/lanyard/execcredential/kubeconfig"
	"github.com/lanyard-dev/lanyard/pluginexec"
)

// explainOptions are the flags of explain.
type explainOptions struct {
	kubeconfigs []string
	context     string
	overrides   kubeconfig.Overrides
	allow       []string
	run         bool
	limits      limits
}

func explainCommand() *cobra.Command {
	options := explainOptions{limits: defaultLimits}
	cmd := &cobra.Command{
		Use:   "explain",
		Short: "Say step by step how a kubeconfig logs in, and run the plugin on request",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if len(options.kubeconfigs) == 0 {
				options.kubeconfigs = kubeconfig.Paths()
			}
			return explain(cmd.Context(), cmd.OutOrStdout(), options)
		},
	}
	flags := cmd.Flags()
	flags.StringArrayVar(&options.kubeconfigs, "kubeconfig", nil, "kubeconfig file, may be repeated (default: KUBECONFIG, else ~/.kube/config)")
	flags.StringVar(&options.context, "context", "", "context (default: the current one)")
	flags.StringVar(&options.overrides.Server, "server", "", "another server")
	flags.StringArrayVar(&options.allow, "allow", nil, "permit this command only, may be repeated, as an allowlist policy would")
	flags.BoolVar(&options.run, "run", false, "run the plugin, without standard input")
	options.limits.register(flags)
	return cmd
}

// explain writes one line per step, and returns the error that would keep a client from logging in.
func explain(ctx context.Context, out io.Writer, options explainOptions) error {
	config, err := kubeconfig.Load(options.kubeconfigs...)
	if err != nil {
		return err
	}
	resolved, err := config.Resolve(options.context, options.overrides)
	if err != nil {
		return err
	}
	line(out, "context    %s: cluster %s, user %s", named(resolved.Context), named(resolved.ClusterName), named(resolved.UserName))
	line(out, "server     %s", named(resolved.Cluster.Server))
	if as := resolved.User.Impersonate; !as.IsZero() {
		line(out, "acts as    user %q, uid %q, groups %q, %d extra attributes", as.Name, as.UID, as.Groups, len(as.Extra))
	}
	line(out, "method     %s", resolved.Method)
	if resolved.NotRun != "" {
		line(out, "plugin     not run: %s", resolved.NotRun)
	}
	if resolved.Exec == nil {
		return nil
	}
	return explainPlugin(ctx, out, *resolved.Exec, &resolved.Cluster, options)
}

func explainPlugin(ctx context.Context, out io.Writer, exec execcredential.ExecConfig, cluster *execcredential.Cluster, options explainOptions) error {
	path, err := resolve(out, exec, options.allow)
	if err != nil {
		return err
	}
	line(out, "mode       %s: %s", exec.InteractiveMode, modeText(exec.InteractiveMode))
	info, err := execcredential.Info(exec, cluster, false)
	if err != nil {
		return err
	}
	explainEnvironment(out, exec, info)
	if !options.run {
		line(out, "run        not asked for (--run)")
		return nil
	}
	return report(ctx, out, pluginexec.Command{
		Path: path, Args: exec.Args, Env: execcredential.Environ(os.Environ(), exec, info),
	}, exec.APIVersion, options.limits)
}

// resolve says which file the command is, and whether a policy lets it run.
func resolve(out io.Writer, exec execcredential.ExecConfig, allow []string) (string, error) {
	path, err := pluginexec.Lookup(exec.Command)
	policy := execcredential.Policy{}
	if len(allow) > 0 {
		policy = execcredential.Policy{Type: execcredential.PolicyAllowlist, Commands: allow}
		if err := policy.Validate(); err != nil {
			return "", err
		}
	}
	if err := policy.Check(exec.Command, path, pluginexec.Lookup); err != nil {
		line(out, "policy     %v", err)
		return "", err
	}
	if err != nil {
		line(out, "command    %v", err)
		if errors.Is(err, pluginexec.ErrNotFound) && exec.InstallHint != "" {
			line(out, "hint       %q", exec.InstallHint)
		}
		return "", err
	}
	line(out, "command    %s%s", named(path), counted(len(exec.Args)))
	return path, nil
}

// counted says how many arguments there are, and none of them: some plugins take a password as one.
func counted(args int) string {
	switch args {
	case 0:
		return ""
	case 1:
		return ", 1 argument"
	}
	return fmt.Sprintf(", %d arguments", args)
}

func modeText(mode execcredential.InteractiveMode) string {
	switch mode {
	case execcredential.InteractiveAlways:
		return "is run with a terminal as standard input only"
	case execcredential.InteractiveIfAvailable:
		return "gets standard input when that is a terminal that nobody else reads"
	}
	return "never gets standard input"
}

// explainEnvironment lists what the plugin's environment has beyond the host's, without values.
func explainEnvironment(out io.Writer, exec execcredential.ExecConfig, info string) {
	host := map[string]bool{}
	for _, entry := range os.Environ() {
		name, _, _ := strings.Cut(entry, "=")
		host[name] = true
	}
	var names []string
	for _, entry := range exec.Env {
		change := "adds"
		if host[entry.Name] {
			change = "overrides"
		}
		if entry.Name == execcredential.InfoEnv {
			change = "is overridden:"
		}
		names = append(names, fmt.Sprintf("%s %s", change, entry))
	}
	for _, name := range slices.Compact(names) {
		line(out, "env        %s", name)
	}
	cluster := "without cluster information"
	if object, err := execcredential.Parse([]byte(info)); err == nil && object.Spec.Cluster != nil {
		cluster = "with cluster information"
	}
	line(out, "env        adds %s, %d bytes, %s", execcredential.InfoEnv, len(info), cluster)
}
