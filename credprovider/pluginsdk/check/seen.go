package check

import (
	"bytes"
	"errors"
	"os"

	"github.com/lanyard-dev/lanyard/pluginexec"
	"github.com/lanyard-dev/lanyard/redact"
)

// seen is what one run of the plugin showed.
type seen struct {
	stdout redact.Bytes
	// leaked is set when the token was on standard error, in whichever part of it.
	leaked bool
	err    error
}

// run runs the plugin with the input.
func (s session) run(input []byte) seen {
	env := redact.Texts(os.Environ()...)
	for _, e := range s.options.Env {
		env = append(env, redact.New(e.Name+"="+e.Value.Reveal()))
	}
	stderr := &search{text: []byte(s.options.Token.Reveal())}
	result, err := pluginexec.Run(s.ctx, pluginexec.Command{
		Path: s.path, Args: s.options.Args, Env: env, Stdin: redact.NewBytes(input),
		Stderr: stderr, Timeout: s.options.Timeout,
	})
	return seen{stdout: result.Stdout, leaked: stderr.found, err: err}
}

// refusal returns how the plugin refused: by an exit code. A plugin that a signal ended has not refused.
func (s seen) refusal() (*pluginexec.ExitError, bool) {
	var exit *pluginexec.ExitError
	return exit, errors.As(s.err, &exit) && exit.Signal == 0
}

// search is a writer that looks for a text in all that is written, of which the tail that a run keeps is only the end.
type search struct {
	text  []byte
	end   []byte // of what was written, shorter than text
	found bool
}

// Write never fails.
func (w *search) Write(p []byte) (int, error) {
	if w.found || len(w.text) == 0 {
		return len(p), nil
	}
	w.end = append(w.end, p...)
	w.found = bytes.Contains(w.end, w.text)
	w.end = bytes.Clone(w.end[max(0, len(w.end)-len(w.text)+1):])
	return len(p), nil
}
