package main

import (
	"bytes"
	"fmt"
	"io"
	"os"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/spf13/cobra"

	"github.com/lanyard-dev/lanyard/supgroups/cmd/supgroups/internal/report"
)

// Exit codes, the same for every command.
const (
	exitClean   = 0 // everything could be determined, and no process is in a group nobody asked for
	exitFound   = 1 // scan: some do
	exitError   = 2 // wrong usage, or input that cannot be read
	exitUnknown = 3 // scan: none found, but not everything could be determined
)

type streams struct {
	in       io.Reader
	out, err io.Writer
}

// output is the flags that both commands share.
type output struct {
	streams
	format   string
	platform string
}

func newCommand(s streams) (root *cobra.Command, code *int) {
	code = new(int)
	root = &cobra.Command{
		Use:           "supgroups",
		Short:         "As which user and in which groups do the containers of a pod start?",
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	root.SetIn(s.in)
	root.SetOut(s.out)
	root.SetErr(s.err)
	o := &output{streams: s}
	root.PersistentFlags().StringVarP(&o.format, "output", "o", "table", "table or json")
	root.PersistentFlags().StringVar(&o.platform, "platform", "linux/amd64", "platform of images that exist for several")
	root.AddCommand(newExplain(o), newScan(o, code))
	return root, code
}

// checkFormat refuses an unknown format before any work is done.
func (o *output) checkFormat() error {
	if o.format != "table" && o.format != "json" {
		return fmt.Errorf("output %q is neither \"table\" nor \"json\"", o.format)
	}
	return nil
}

// print writes v as JSON, or as text by means of table, whole or not at all.
func (o *output) print(v any, table func(io.Writer) error) error {
	if o.format == "json" {
		return report.PrintJSON(o.out, v)
	}
	var text bytes.Buffer
	if err := table(&text); err != nil {
		return err
	}
	_, err := o.out.Write(text.Bytes())
	return err
}

func (o *output) parsePlatform() (v1.Platform, error) {
	p, err := v1.ParsePlatform(o.platform)
	if err != nil {
		return v1.Platform{}, fmt.Errorf("platform %q: %w", o.platform, err)
	}
	return *p, nil
}

// openInput opens a file, or standard input for "-".
func (o *output) openInput(path string) (io.ReadCloser, error) {
	if path == "-" {
		return io.NopCloser(o.in), nil
	}
	return os.Open(path)
}

// isTerminal reports whether progress written to w is seen by a person.
func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}
