package keys

import (
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/lanyard-dev/lanyard/execaudit/bridge/cmd/lanyard-bridge/internal/usage"
	"github.com/lanyard-dev/lanyard/execaudit/bridge/token"
)

// Command returns the command `keys`.
func Command() *cobra.Command {
	c := &cobra.Command{
		Use:   "keys",
		Short: "Make and rotate the webhook's keys",
		Long: `Make and rotate the webhook's keys.

In a cluster, the private keys are a Secret that the webhook mounts, the public ones a ConfigMap that the nodes mount:

  lanyard-bridge keys install   # makes both, and adds what one of them lacks
  lanyard-bridge keys list
  lanyard-bridge keys rotate    # a new key beside the old one: each node gets tokens of the newest that it has
  lanyard-bridge keys retire    # once every node has the new key: the webhook forgets the old one
  lanyard-bridge keys prune     # 15 minutes later: the nodes forget it

Elsewhere, with files, give the private keys' file:

  lanyard-bridge keys new FILE
  lanyard-bridge keys public FILE   # for the nodes, before the webhook has FILE
  lanyard-bridge keys rotate FILE   # then public again, to the nodes
  lanyard-bridge keys retire FILE   # then public again, 15 minutes later, to the nodes

Private keys are never printed.`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error { return usage.Errorf("keys: name what to do; see --help") },
	}
	c.AddCommand(newCommand(), publicCommand(), listCommand(), installCommand(), rotateCommand(), retireCommand(), pruneCommand())
	return c
}

func newCommand() *cobra.Command {
	return &cobra.Command{
		Use: "new FILE", Short: "Make a private key's file, and print its public key", Args: exactly(1),
		RunE: func(c *cobra.Command, args []string) error {
			key := token.NewKey()
			if err := createFile(args[0], []Private{{Key: key}}); err != nil {
				return err
			}
			return printPublic(c.OutOrStdout(), []Private{{Key: key}})
		},
	}
}

func publicCommand() *cobra.Command {
	return &cobra.Command{
		Use: "public FILE", Short: "Print the public keys of a file of private ones, as nodes read them", Args: exactly(1),
		RunE: func(c *cobra.Command, args []string) error {
			keys, err := readFile(args[0])
			if err != nil {
				return err
			}
			return printPublic(c.OutOrStdout(), keys)
		},
	}
}

func listCommand() *cobra.Command {
	var k cluster
	c := &cobra.Command{
		Use: "list [FILE]", Short: "Tell which keys there are, and who has them", Args: atMost(1),
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				return k.list(c.Context(), c.OutOrStdout(), time.Now())
			}
			keys, err := readFile(args[0])
			if err != nil {
				return err
			}
			for i, key := range keys {
				fmt.Fprintln(c.OutOrStdout(), key.Public().ID(), role(i, key, time.Now()))
			}
			return nil
		},
	}
	k.flags(c)
	return c
}

func installCommand() *cobra.Command {
	var k cluster
	c := &cobra.Command{
		Use: "install", Short: "Make the Secret and the ConfigMap of the cluster, or add what they lack", Args: exactly(0),
		RunE: func(c *cobra.Command, _ []string) error { return k.install(c.Context(), c.OutOrStdout()) },
	}
	k.flags(c)
	return c
}

func rotateCommand() *cobra.Command {
	var k cluster
	var after time.Duration
	c := &cobra.Command{
		Use: "rotate [FILE]", Short: "Add a new key, which is preferred from now on", Args: atMost(1),
		RunE: func(c *cobra.Command, args []string) error {
			if !c.Flags().Changed("after") && len(args) == 0 {
				after = DefaultAfter
			}
			var from time.Time
			if after > 0 {
				from = time.Now().Add(after).UTC().Truncate(time.Second)
			}
			if len(args) == 0 {
				return k.rotate(c.Context(), c.OutOrStdout(), from)
			}
			keys, err := readFile(args[0])
			if err != nil {
				return err
			}
			if keys, err = rotated(keys, from); err != nil {
				return err
			}
			if err := replaceFile(args[0], keys); err != nil {
				return err
			}
			fmt.Fprintln(c.ErrOrStderr(), "give these to every node, then: lanyard-bridge keys retire", args[0])
			return printPublic(c.OutOrStdout(), keys)
		},
	}
	k.flags(c)
	c.Flags().DurationVar(&after, "after", 0, "when the webhook begins to sign with the new key: when all of its replicas have it (default 5m in a cluster, at once for a file)")
	return c
}

func retireCommand() *cobra.Command {
	var k cluster
	c := &cobra.Command{
		Use: "retire [FILE]", Short: "Take the old private key from the webhook", Args: atMost(1),
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				return k.retire(c.Context(), c.OutOrStdout(), time.Now())
			}
			keys, err := readFile(args[0])
			if err != nil {
				return err
			}
			if len(keys) < 2 {
				return errNothingToRetire
			}
			if err := replaceFile(args[0], []Private{{Key: keys[0].Key}}); err != nil {
				return err
			}
			fmt.Fprintf(c.ErrOrStderr(), "in %v give nodes this alone:\n", pruneAfter)
			return printPublic(c.OutOrStdout(), keys[:1])
		},
	}
	k.flags(c)
	c.Flags().BoolVar(&k.force, "force", false, "also while nodes lack the new key: their sessions go on unmarked, or are refused")
	return c
}

func pruneCommand() *cobra.Command {
	var k cluster
	c := &cobra.Command{
		Use: "prune", Short: "Take the public keys of retired ones from the nodes", Args: exactly(0),
		RunE: func(c *cobra.Command, _ []string) error { return k.prune(c.Context(), c.OutOrStdout(), time.Now()) },
	}
	k.flags(c)
	c.Flags().BoolVar(&k.force, "force", false, "also before the last tokens of retired keys are expired: for a key that was stolen")
	return c
}

func exactly(n int) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if len(args) != n {
			return usage.Errorf("%s: %d arguments, not %d", c.CommandPath(), n, len(args))
		}
		return nil
	}
}

func atMost(n int) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if len(args) > n {
			return usage.Errorf("%s: at most %d arguments, not %d", c.CommandPath(), n, len(args))
		}
		return nil
	}
}

// role is what the webhook does with its i-th key.
func role(i int, key Private, now time.Time) string {
	switch {
	case now.Before(key.From):
		return "signs " + begins(key.From)
	case i == 0:
		return "signs"
	}
	return "signs for nodes without the first"
}

func begins(from time.Time) string {
	if from.IsZero() {
		return "at once"
	}
	return "from " + from.UTC().Format(time.RFC3339)
}

func printPublic(to io.Writer, keys []Private) error {
	_, err := io.WriteString(to, public(keys).Text())
	return err
}

func public(keys []Private) token.Keys {
	var out token.Keys
	for _, key := range keys {
		out = append(out, key.Public())
	}
	return out
}
