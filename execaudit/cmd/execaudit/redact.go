package main

import (
	"bufio"
	"errors"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/lanyard-dev/lanyard/execaudit"
	"github.com/lanyard-dev/lanyard/execaudit/attribution/lines"
)

func newRedact(s streams) *cobra.Command {
	return &cobra.Command{
		Use:   "redact",
		Short: "Copy a log from standard input to standard output, without the env values of URLs",
		Long: `Copy a log from standard input to standard output. In every URL the values of env parameters become [redacted]; their names,
and all else, stay. JSON's own escape of "&" is understood. Exit code: 0, or 1 when reading or writing
stopped, which it does at a line of over 4 MiB.`,
		Args: usage(cobra.NoArgs),
		RunE: func(*cobra.Command, []string) error { return redact(s.out, s.in) },
	}
}

// redact stops at a line that is too long: cut in two, a value in it could pass.
func redact(w io.Writer, r io.Reader) error {
	in, out := bufio.NewReaderSize(r, lines.MaxLineBytes), bufio.NewWriter(w)
	for number := 1; ; number++ {
		line, err := in.ReadSlice('\n')
		if errors.Is(err, bufio.ErrBufferFull) {
			err = &lines.Fault{File: "standard input", Line: number, Err: lines.ErrTooLong}
			return inputError{errors.Join(err, out.Flush())}
		}
		if _, failed := out.WriteString(redactLine(string(line))); failed != nil {
			return inputError{failed}
		}
		if err != nil {
			return ended(err, out.Flush())
		}
	}
}

// ended returns what went wrong at the end of the input, nil for nothing.
func ended(read, flush error) error {
	if errors.Is(read, io.EOF) {
		read = nil
	}
	if err := errors.Join(read, flush); err != nil {
		return inputError{err}
	}
	return nil
}

// between are the characters that a URL in a log cannot have and that stand around it.
const between = " \t\r\n\"'`<>(){}"

// redactLine redacts each word that has a query.
func redactLine(line string) string {
	var out strings.Builder
	for len(line) > 0 {
		end := strings.IndexAny(line, between)
		if end < 0 {
			end = len(line)
		}
		out.WriteString(redactWord(line[:end]))
		if end < len(line) {
			out.WriteByte(line[end])
			end++
		}
		line = line[end:]
	}
	return out.String()
}

const escapedAmpersand = `\u0026`

func redactWord(word string) string {
	if !strings.Contains(word, "?") {
		return word
	}
	plain := strings.ReplaceAll(word, escapedAmpersand, "&")
	redacted := execaudit.RedactURI(plain)
	if redacted == plain {
		return word
	}
	if plain != word {
		redacted = strings.ReplaceAll(redacted, "&", escapedAmpersand)
	}
	return redacted
}
