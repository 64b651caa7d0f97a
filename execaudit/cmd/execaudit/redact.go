package main

import (
	"bufio"
	"errors"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/lanyard-dev/lanyard/execaudit"
)

func newRedact(s streams) *cobra.Command {
	return &cobra.Command{
		Use:   "redact",
		Short: "Copy a log from standard input to standard output, without the env values of URLs",
		Long: `Copy a log from standard input to standard output. In every URL the values of env parameters become [redacted]; their names,
and all else, stay. JSON's own escape of "&" is understood. Exit code: 0, or 1 when reading or writing stopped.`,
		Args: usage(cobra.NoArgs),
		RunE: func(*cobra.Command, []string) error { return redact(s.out, s.in) },
	}
}

func redact(w io.Writer, r io.Reader) error {
	in, out := bufio.NewReaderSize(r, 64<<10), bufio.NewWriter(w)
	for {
		line, err := in.ReadString('\n')
		if _, failed := out.WriteString(redactLine(line)); failed != nil {
			return inputError{failed}
		}
		if err != nil {
			if errors.Is(err, io.EOF) {
				err = nil
			}
			if err = errors.Join(err, out.Flush()); err != nil {
				return inputError{err}
			}
			return nil
		}
	}
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
