package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"

	"github.com/spf13/cobra"

	"github.com/lanyard-dev/lanyard/criconformance/internal/printable"
	"github.com/lanyard-dev/lanyard/criconformance/suite"
)

// flags are the command line.
type flags struct {
	options     suite.Options
	focus, skip string
	require     []string
	output      string
	junit       string
	archive     string
	list        bool
}

// run runs the tool and returns its exit code.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	var f flags
	code := suite.ExitPassed
	cmd := &cobra.Command{
		Use:           "criconformance --runtime-endpoint unix:///run/containerd/containerd.sock",
		Short:         "Test whether a CRI runtime implements KEP-6035 (exec environments) and KEP-3619 (supplemental groups)",
		Args:          cobra.NoArgs,
		SilenceUsage:  true,
		SilenceErrors: true,
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			code, err = f.do(cmd.Context(), stdout, stderr)
			return err
		},
	}
	f.add(cmd)
	cmd.SetArgs(args)
	cmd.SetOut(stdout)
	cmd.SetErr(stderr)
	if err := cmd.ExecuteContext(ctx); err != nil {
		fmt.Fprintln(stderr, "criconformance:", printable.Line(strings.ReplaceAll(err.Error(), "\n", "; ")))
		if code == suite.ExitPassed {
			code = suite.ExitTrouble
		}
	}
	return code
}

func (f *flags) add(cmd *cobra.Command) {
	s := cmd.Flags()
	s.StringVar(&f.options.Endpoint, "runtime-endpoint", "", "the runtime's CRI socket, as unix:///PATH")
	s.StringVar(&f.options.ImageEndpoint, "image-endpoint", "", "the image service's socket, if it is another")
	s.StringVar(&f.options.Handler, "runtime-handler", "", "runtime handler of the pods, such as runsc")
	s.StringVar(&f.focus, "focus", "", "run cases whose name matches the regular expression")
	s.StringVar(&f.skip, "skip", "", "do not run cases whose name matches the regular expression")
	s.StringSliceVar(&f.require, "require", nil, "features that the runtime must have: envs, envs-bytes, groups, ids")
	s.StringVarP(&f.output, "output", "o", "text", "text or json")
	s.StringVar(&f.junit, "junit", "", "also write a JUnit file")
	s.DurationVar(&f.options.Timeout, "timeout", suite.DefaultTimeout, "how long one case may take")
	s.IntVar(&f.options.Parallel, "parallel", suite.DefaultParallel, "how many cases run at a time")
	s.StringVar(&f.options.Reporter, "reporter", "", "static Linux program for the images, if it cannot be this one")
	s.StringVar(&f.options.Push, "push", "", "repository to push the images to, for runtimes that cannot pull from localhost")
	s.StringVar(&f.options.Images, "images", "", "repository whose images the runtime already has")
	s.StringVar(&f.archive, "write-archive", "", "write the images as an OCI archive to this file, named by --images, and exit")
	s.BoolVar(&f.list, "list", false, "list the cases and exit")
}

// do does what the flags say and returns the exit code.
func (f *flags) do(ctx context.Context, stdout, stderr io.Writer) (int, error) {
	switch {
	case f.list:
		return suite.ExitPassed, list(stdout)
	case f.archive != "":
		return suite.ExitPassed, f.writeArchive()
	}
	if err := f.writeJUnit(suite.Report{Endpoint: f.options.Endpoint, Error: "the run has not ended"}); err != nil {
		return suite.ExitTrouble, err
	}
	if err := f.parse(); err != nil {
		report := suite.Report{Endpoint: f.options.Endpoint, Error: err.Error()}
		return suite.ExitTrouble, errors.Join(err, f.write(report, true, stdout))
	}
	if isTerminal(stderr) {
		f.options.Progress = func(done, total int, name string) { fmt.Fprintf(stderr, "\r\x1b[K%d/%d %s", done, total, name) }
	}
	report, err := suite.Run(ctx, f.options)
	if f.options.Progress != nil {
		fmt.Fprint(stderr, "\r\x1b[K")
	}
	usage := errors.Is(err, suite.ErrOptions) && report.Runtime == "" // no runtime was asked
	return report.ExitCode(), errors.Join(err, f.write(report, usage, stdout))
}

// parse reads the flags that are more than text.
func (f *flags) parse() (err error) {
	if f.output != "text" && f.output != "json" {
		return fmt.Errorf("output %q is neither \"text\" nor \"json\"", f.output)
	}
	if f.options.Focus, err = pattern("focus", f.focus); err != nil {
		return err
	}
	if f.options.Skip, err = pattern("skip", f.skip); err != nil {
		return err
	}
	for _, name := range f.require {
		f.options.Require = append(f.options.Require, suite.Feature(name))
	}
	return nil
}

// pattern compiles the regular expression of a flag; nil for a flag that was not set.
func pattern(flag, text string) (*regexp.Regexp, error) {
	if text == "" {
		return nil, nil
	}
	compiled, err := regexp.Compile(text)
	if err != nil {
		return nil, fmt.Errorf("--%s: %w", flag, err)
	}
	return compiled, nil
}

// write writes the report in all formats that were asked for. Of wrong usage the text is the error's line alone.
func (f *flags) write(report suite.Report, usage bool, stdout io.Writer) (err error) {
	switch {
	case f.output == "json":
		err = report.WriteJSON(stdout)
	case !usage:
		err = report.WriteText(stdout)
	}
	return errors.Join(err, f.writeJUnit(report))
}

// writeJUnit writes the JUnit file. It is written before the run too, so that one of an earlier run does not stand for
// a run that is killed.
func (f *flags) writeJUnit(report suite.Report) error {
	if f.junit == "" {
		return nil
	}
	return toFile(f.junit, report.WriteJUnit)
}

func (f *flags) writeArchive() error {
	return toFile(f.archive, func(w io.Writer) error { return suite.WriteArchive(w, f.options.Images, f.options.Reporter) })
}

func toFile(path string, write func(io.Writer) error) error {
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	return errors.Join(write(file), file.Close())
}

func list(w io.Writer) error {
	for _, c := range suite.Cases() {
		if _, err := fmt.Fprintf(w, "%-7s %-30s %s\n", c.Requirement, c.Name, c.Source); err != nil {
			return err
		}
	}
	return nil
}

// isTerminal reports whether a person watches what is written to w.
func isTerminal(w io.Writer) bool {
	file, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := file.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}
