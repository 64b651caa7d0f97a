package transport

import (
	"context"
	"os"
	"sync"

	"github.com/lanyard-dev/lanyard/execcredential"
)

// Terminal is standard input as something that one reader at a time may have: a plugin, or the program itself. Share
// one per process between pools.
type Terminal struct {
	file   *os.File
	turn   chan struct{} // holds a token while a plugin reads
	mu     sync.Mutex
	claims map[*int]string
}

// NewTerminal returns a terminal over file, usually os.Stdin. A file that is not a terminal is never handed to a
// plugin.
func NewTerminal(file *os.File) *Terminal {
	return &Terminal{file: file, turn: make(chan struct{}, 1), claims: map[*int]string{}}
}

// Claim keeps plugins that start from now on away from standard input, for a program that reads it itself as kubectl
// apply -f - does. By names the reader in errors. The claim ends with the returned function, which may be called more
// than once.
func (t *Terminal) Claim(by string) (release func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	key := new(int)
	t.claims[key] = by
	return func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		delete(t.claims, key)
	}
}

// exists reports whether there is a terminal that a plugin might ever have.
func (t *Terminal) exists() bool { return t != nil && isTerminal(t.file) }

// available returns nil when a plugin may have standard input. A nil Terminal is none.
func (t *Terminal) available(mode execcredential.InteractiveMode) error {
	if !t.exists() {
		return &InteractiveError{Mode: mode, Err: ErrNoTerminal}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, by := range t.claims {
		return &InteractiveError{Mode: mode, By: by, Err: ErrClaimed}
	}
	return nil
}

// lend hands the terminal to one plugin, in turn. A nil file with a nil error is a run without standard input. Done has
// to be called.
func (t *Terminal) lend(ctx context.Context, mode execcredential.InteractiveMode) (file *os.File, done func(), err error) {
	if mode == execcredential.InteractiveNever {
		return nil, func() {}, nil
	}
	if err := t.available(mode); err != nil {
		return nil, func() {}, unlessOptional(mode, err)
	}
	select {
	case t.turn <- struct{}{}:
	case <-ctx.Done():
		return nil, func() {}, context.Cause(ctx)
	}
	done = func() { <-t.turn }
	if err := t.available(mode); err != nil { // claimed while this plugin waited for its turn
		done()
		return nil, func() {}, unlessOptional(mode, err)
	}
	return t.file, done, nil
}

func unlessOptional(mode execcredential.InteractiveMode, err error) error {
	if mode == execcredential.InteractiveIfAvailable {
		return nil
	}
	return err
}
