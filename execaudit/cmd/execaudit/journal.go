package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/lanyard-dev/lanyard/execaudit/journal"
	"github.com/lanyard-dev/lanyard/internal/terminal"
)

func newJournal(s streams, code *int) *cobra.Command {
	cmd := &cobra.Command{
		Use: "journal", Short: "Check an exec journal, and make the keys of its seals", Args: usage(cobra.NoArgs),
		RunE: func(*cobra.Command, []string) error {
			return usageError{errors.New("journal needs a command: verify or keys")}
		},
	}
	cmd.AddCommand(newVerify(s, code), newKeys(s))
	return cmd
}

func newKeys(s streams) *cobra.Command {
	return &cobra.Command{
		Use:   "keys KEYFILE",
		Short: "Make a journal's key file, and print its verification key",
		Long: `Make a journal's key file, and print its verification key, a secret, on standard output. The key file stays on the host,
where its key is replaced after each seal; the verification key is kept elsewhere and never shown again.`,
		Example: `  ssh node execaudit journal keys /var/lib/runtime/exec-journal.key > node.verify`,
		Args:    usage(cobra.ExactArgs(1)),
		RunE: func(_ *cobra.Command, args []string) error {
			key := journal.NewKey()
			if err := key.Install(args[0]); err != nil {
				return inputError{err}
			}
			if _, err := fmt.Fprintln(s.out, key.Reveal()); err != nil {
				return inputError{errors.Join(err, os.Remove(args[0]))} // nobody has its key
			}
			return nil
		},
	}
}

// verify is one run of the command.
type verify struct {
	streams
	code                      *int
	key, keyFile, until, form string
	now                       func() time.Time
}

func newVerify(s streams, code *int) *cobra.Command {
	v := &verify{streams: s, code: code, now: time.Now}
	cmd := &cobra.Command{
		Use:   "verify JOURNAL",
		Short: "Find what was changed in a journal, and say up to where it can be trusted",
		Long: `Find what was changed in a journal, and say up to where it can be trusted. JOURNAL is its path; the files that were rotated
away, JOURNAL.NUMBER, are read with it.

With the verification key, what stands before the last seal that holds is as it was written, even where somebody has had the
whole host since then. Records after that seal may be true or not. A journal whose end was cut off at a seal still holds: compare the
time of its last seal with the time that it should have, or give --key-file.

Without a key only the hash chain is checked. That finds accidents; who can write the files can also chain them anew.

Exit code: 0 nothing is wrong, 1 something is, or a file cannot be read, 2 wrong usage.`,
		Example: `  execaudit journal verify /var/lib/runtime/exec-journal.jsonl --key node.verify --key-file /var/lib/runtime/exec-journal.key`,
		Args:    usage(cobra.ExactArgs(1)),
		RunE:    func(_ *cobra.Command, args []string) error { return v.run(args[0]) },
	}
	flags := cmd.Flags()
	flags.StringVar(&v.key, "key", "", "`FILE` of the verification key; one a line where a key file was replaced")
	flags.StringVar(&v.keyFile, "key-file", "", "the host's key `FILE`, to find whether the end is missing")
	flags.StringVar(&v.until, "until", "", "`TIME` (RFC 3339) at which the host was taken: seals after it do not count")
	flags.StringVarP(&v.form, "output", "o", "text", "`FORM`: text or json")
	return cmd
}

func (v *verify) run(path string) error {
	check := journal.Check{KeyFile: v.keyFile}
	var err error
	if v.form != "text" && v.form != "json" {
		return usageError{fmt.Errorf("output %q is not one of text, json", v.form)}
	}
	if v.until != "" {
		if check.Until, err = time.Parse(time.RFC3339, v.until); err != nil {
			return usageError{fmt.Errorf("--until %q is not a time as 2006-01-02T15:04:05Z", v.until)}
		}
	}
	if check.Keys, err = readKeys(v.key); err != nil {
		return inputError{err}
	}
	files, err := journal.Files(path)
	if err == nil && len(files) == 0 {
		err = &fs.PathError{Op: "open", Path: path, Err: fs.ErrNotExist}
	}
	if err != nil {
		return inputError{err}
	}
	report, err := journal.Verify(files, check)
	if err != nil {
		return inputError{err}
	}
	if report.Err() != nil {
		*v.code = exitFaults
	}
	text := v.text(report, files, len(check.Keys) > 0)
	if v.form == "json" {
		text = v.json(report, files, len(check.Keys) > 0)
	}
	if _, err := v.out.Write(text); err != nil {
		return inputError{err}
	}
	return nil
}

// readKeys returns the keys of a file, one a line; none for no file.
func readKeys(path string) (keys []journal.Key, err error) {
	if path == "" {
		return nil, nil
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(string(text)) {
		if strings.TrimSpace(line) == "" {
			continue
		}
		key, err := journal.ParseKey(line)
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", path, len(keys)+1, err)
		}
		keys = append(keys, key)
	}
	if keys == nil {
		return nil, fmt.Errorf("%s: %w", path, journal.ErrBadKey)
	}
	return keys, nil
}

func (v *verify) text(r *journal.Report, files []string, keyed bool) []byte {
	var out bytes.Buffer
	line := func(format string, args ...any) { fmt.Fprintln(&out, terminal.Escape(fmt.Sprintf(format, args...))) }
	for _, b := range r.Breaks {
		line("broken: %v", b)
	}
	line("read: %d files from number %d on, %d records up to %s:%d", len(files), r.Begin, r.End.Records, r.End.File, r.End.Line)
	if r.Torn+r.Unchained > 0 {
		line("read: %d lines that a crash left unfinished, %d of an older version before the chain", r.Torn, r.Unchained)
	}
	switch {
	case !keyed:
		line("trusted: nothing; without a key the chain alone was checked, which whoever can write the files can make anew")
	case r.Trusted.File == "":
		line("trusted: nothing; no seal holds")
	default:
		line("trusted: %d records, up to line %d, byte %d of %s", r.Trusted.Records, r.Trusted.Line, r.Trusted.Byte, r.Trusted.File)
		line("first seal: epoch %d at %s", r.First.Epoch, r.First.Time.Format(time.RFC3339))
		line("last seal: epoch %d at %s (%s), %s ago", r.Seal.Epoch, r.Seal.Time.Format(time.RFC3339), r.Seal.Cause, v.ago(r))
		line("not sealed: %d records after it", r.End.Records-r.Trusted.Records)
	}
	return out.Bytes()
}

func (v *verify) ago(r *journal.Report) time.Duration {
	return v.now().Sub(r.Seal.Time).Round(time.Second)
}

// verifyLine is the output as JSON.
type verifyLine struct {
	OK        bool              `json:"ok"`
	Keyed     bool              `json:"keyed"`
	Files     []string          `json:"files"`
	Begin     uint64            `json:"begin"`
	Trusted   *journal.Position `json:"trusted,omitempty"`
	First     *journal.Seal     `json:"firstSeal,omitempty"`
	Last      *journal.Seal     `json:"lastSeal,omitempty"`
	Age       float64           `json:"lastSealAgeSeconds,omitempty"`
	End       journal.Position  `json:"end"`
	Seals     int               `json:"seals"`
	Torn      int               `json:"torn"`
	Unchained int               `json:"unchained"`
	Breaks    []verifyBreak     `json:"breaks"`
}

type verifyBreak struct {
	journal.Position
	Error string `json:"error"`
}

func (v *verify) json(r *journal.Report, files []string, keyed bool) []byte {
	line := verifyLine{
		OK: r.Err() == nil, Keyed: keyed, Files: slices.Clone(files), Begin: r.Begin, End: r.End,
		Seals: r.Seals, Torn: r.Torn, Unchained: r.Unchained, Breaks: []verifyBreak{},
	}
	if r.Trusted.File != "" {
		line.Trusted, line.First, line.Last, line.Age = &r.Trusted, &r.First, &r.Seal, v.ago(r).Seconds()
	}
	for _, b := range r.Breaks {
		line.Breaks = append(line.Breaks, verifyBreak{b.At, b.Err.Error()})
	}
	out, _ := json.Marshal(line) // which has no type that cannot be written
	return append(out, '\n')
}
