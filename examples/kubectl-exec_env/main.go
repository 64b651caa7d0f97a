// Command kubectl-exec_env is a kubectl plugin: `kubectl exec-env --env KEY=VALUE POD -- COMMAND` is kubectl exec with
// the flag that KEP-6035 adds, for as long as kubectl itself does not have it.
//
// Everything but --env is kubectl's own code. Before a session begins the server is asked whether it takes environment
// variables; when it does not, nothing is run and the program says why.
package main

import (
	"os"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/component-base/cli"
	"k8s.io/kubectl/pkg/cmd/exec"
	cmdutil "k8s.io/kubectl/pkg/cmd/util"

	_ "k8s.io/client-go/plugin/pkg/client/auth"

	"github.com/lanyard-dev/lanyard/execaudit"
)

// podRunningTimeout is how long a pod may take to run, as in kubectl exec.
const podRunningTimeout = time.Minute

func main() {
	streams := genericiooptions.IOStreams{In: os.Stdin, Out: os.Stdout, ErrOut: os.Stderr}
	if err := cli.RunNoErrOutput(command(streams)); err != nil {
		cmdutil.CheckErr(err)
	}
}

// command is kubectl exec's, with --env and with an executor that sends it.
func command(streams genericiooptions.IOStreams) *cobra.Command {
	var envs execaudit.EnvFlag
	options := &exec.ExecOptions{
		StreamOptions: exec.StreamOptions{IOStreams: streams},
		Executor:      &executor{envs: &envs},
	}
	connection := genericclioptions.NewConfigFlags(true).WithDeprecatedPasswordFlag()
	cmd := &cobra.Command{
		Use:           "kubectl exec-env [--env NAME=VALUE]... (POD | TYPE/NAME) [-c CONTAINER] [flags] -- COMMAND [args...]",
		Short:         "Execute a command in a container, with environment variables of your own",
		SilenceUsage:  true,
		SilenceErrors: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			factory := cmdutil.NewFactory(cmdutil.NewMatchVersionFlags(connection))
			if err := options.Complete(factory, cmd, args, cmd.ArgsLenAtDash()); err != nil {
				return err
			}
			if err := options.Validate(); err != nil {
				return err
			}
			return options.Run()
		},
	}
	flags := cmd.Flags()
	flags.Var(&envs, "env", "Environment variable of the command, repeatable; the value keeps '=', commas and spaces")
	flags.BoolVarP(&options.Stdin, "stdin", "i", false, "Pass stdin to the container")
	flags.BoolVarP(&options.TTY, "tty", "t", false, "Stdin is a TTY")
	flags.BoolVarP(&options.Quiet, "quiet", "q", false, "Only print output from the remote session")
	cmdutil.AddPodRunningTimeoutFlag(cmd, podRunningTimeout)
	cmdutil.AddJsonFilenameFlag(flags, &options.Filenames, "to use to exec into the resource")
	cmdutil.AddContainerVarFlags(cmd, &options.ContainerName, "")
	connection.AddFlags(flags)
	return cmd
}
