package transport

import (
	"errors"
	"strings"
	"sync"
	"time"

	"github.com/lanyard-dev/lanyard/pluginexec"
)

const (
	// hintsPerWindow is how often a source gives its install hint within hintWindow.
	hintsPerWindow = 10
	// hintWindow is the time over which hints are counted; it begins with the first.
	hintWindow = time.Hour
)

// hints counts how often an install hint was given.
type hints struct {
	mu    sync.Mutex
	begin time.Time
	given int
}

func (h *hints) take(now time.Time) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.given == 0 || now.Sub(h.begin) >= hintWindow {
		h.begin, h.given = now, 0
	}
	if h.given >= hintsPerWindow {
		return false
	}
	h.given++
	return true
}

// explained wraps the reason for one caller, with the hint when it helps and has not been given too often. A pause
// repeats an error that its callers have seen, so it brings no hint.
func (s *shared) explained(err error) error {
	var pause *BackoffError
	wrapped := &PluginError{Command: s.config.Command, Err: err}
	if errors.Is(err, pluginexec.ErrNotFound) && !errors.As(err, &pause) && s.config.InstallHint != "" && s.hints.take(s.pool.options.now()) {
		wrapped.Hint = visible(s.config.InstallHint)
	}
	return wrapped
}

// visible spells out escape characters, so that text of a kubeconfig or of a caller cannot drive the terminal that
// shows it.
func visible(text string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' && r != '\n' && r != '\t' || r >= 0x7f && r < 0xa0 {
			return -1
		}
		return r
	}, strings.NewReplacer("\x1b", "U+001B", "\u009b", "U+009B").Replace(text))
}
