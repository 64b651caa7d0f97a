package main

import (
	"context"
	"fmt"
	"io"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/spf13/cobra"

	"github.com/lanyard-dev/lanyard/supgroups/cmd/supgroups/internal/podlist"
	"github.com/lanyard-dev/lanyard/supgroups/cmd/supgroups/internal/report"
	"github.com/lanyard-dev/lanyard/supgroups/cmd/supgroups/internal/source"
)

type scanFlags struct {
	*output
	images map[string]string
	code   *int
}

func newScan(o *output, code *int) *cobra.Command {
	f := scanFlags{output: o, code: code}
	cmd := &cobra.Command{
		Use:   "scan [pods.json]",
		Short: "List the containers whose processes are in groups that nobody asked for",
		Long: `List the containers that get groups from their image without asking, and what Strict would take away.

The input is what "kubectl get pods -A -o json" prints, from a file or standard input; several lists may follow each
other. Images are fetched from their registry, by digest where the pod's status has one, and never from a file; --image
NAME=SOURCE says where an image is instead: a docker archive or an OCI layout when SOURCE begins with "/", "./" or "../",
else another reference. Where the node reports containerStatuses[].user, that counts too.

Exit code: 0 nothing found, 1 something found, 2 wrong usage or unreadable input, 3 nothing found but not everything
could be told.`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				args = []string{"-"}
			}
			return f.run(cmd.Context(), args[0])
		},
	}
	cmd.Flags().StringToStringVar(&f.images, "image", nil, "NAME=SOURCE: where the image that pods call NAME is; may be repeated")
	return cmd
}

func (f *scanFlags) run(ctx context.Context, path string) error {
	if err := f.checkFormat(); err != nil {
		return err
	}
	platform, err := f.parsePlatform()
	if err != nil {
		return err
	}
	s := f.scanner(platform)
	if err := f.read(path, s); err != nil {
		return fmt.Errorf("pods: %w", err)
	}
	summary := s.Run(ctx)
	if err := ctx.Err(); err != nil {
		return err
	}
	*f.code = exitCode(summary)
	return f.print(summary, func(w io.Writer) error { return report.PrintSummary(w, summary) })
}

func (f *scanFlags) scanner(platform v1.Platform) *report.Scanner {
	s := &report.Scanner{Open: func(ctx context.Context, image source.Where) (*source.Image, error) {
		return source.Open(ctx, image, platform)
	}}
	if isTerminal(f.err) {
		s.Progress = func(done, images int) {
			fmt.Fprintf(f.err, "\rimages %d/%d", done, images)
			if done == images {
				fmt.Fprint(f.err, "\r\033[K")
			}
		}
	}
	s.Locate = func(c *report.Container) {
		if where, ok := f.images[c.SpecImage]; ok {
			c.Image = source.Given(where)
		}
	}
	return s
}

func (f *scanFlags) read(path string, s *report.Scanner) error {
	r, err := f.openInput(path)
	if err != nil {
		return err
	}
	defer r.Close()
	for pod, err := range podlist.All(r) {
		if err != nil {
			return err
		}
		s.Add(pod)
	}
	return nil
}

func exitCode(s report.Summary) int {
	switch {
	case len(s.Findings) > 0:
		return exitFound
	case len(s.Unread) > 0:
		return exitUnknown
	}
	return exitClean
}
