package suite

import (
	"context"
	"errors"
	"fmt"

	"github.com/lanyard-dev/lanyard/criconformance/internal/client"
	"github.com/lanyard-dev/lanyard/criconformance/internal/images"
	"github.com/lanyard-dev/lanyard/criconformance/internal/message"
	"github.com/lanyard-dev/lanyard/criconformance/reporter"
	"github.com/lanyard-dev/lanyard/envprecedence"
)

// way is how a session is opened.
type way struct {
	protocol client.Protocol
	tty      bool
}

// String is how a report names it.
func (w way) String() string {
	if w.tty {
		return string(w.protocol) + ", terminal"
	}
	return string(w.protocol)
}

// sayCommand has the reporter report.
func sayCommand() []string { return []string{images.File, reporter.Argument, message.Say} }

// report opens a session that reports.
func (n *node) report(ctx context.Context, w way, container string, env []envprecedence.Entry) (m message.Message, err error) {
	out, err := n.client.Run(ctx, client.Session{
		Container: container, Command: sayCommand(), Env: env, TTY: w.tty, Protocol: w.protocol,
	}, message.MaxBytes)
	if err != nil {
		return m, err
	}
	return message.Parse(out)
}

// sessionFailed is the observation of a session that did not come about. The same session without an environment did,
// when the ways were probed: if the runtime says no, it is the environment that it refuses.
func (n *node) sessionFailed(w way, sent []envprecedence.Entry, err error) observation {
	if !client.Refused(err) {
		return trouble(fmt.Errorf("exec over %s: %w", w, err))
	}
	return broken(w.String(), describe(sent, ""), "the session failed: %v", err)
}

// inEachWay tries the case in every way that carries an environment, or in the first if none does.
func (n *node) inEachWay(try func(way) observation) (o observation) {
	for _, w := range n.carriers() {
		o = o.and(try(w))
		if o.Err != nil {
			return o
		}
	}
	return o
}

// probe is what one way was seen to do before the cases.
type probe struct {
	way
	err     error // a session fails even without an environment
	carries observation
}

// probeEnv is what the probes send.
func probeEnv() []envprecedence.Entry { return env("CONF_PROBE", "probe") }

// probeWay tries whether the runtime speaks the protocol, and whether an environment arrives.
func (n *node) probeWay(ctx context.Context, w way) probe {
	p := probe{way: w}
	if p.err = n.client.Handshake(ctx, client.Session{Container: n.fixture, Command: sayCommand(), Protocol: w.protocol}); p.err != nil {
		return p
	}
	if _, p.err = n.report(ctx, w, n.fixture, nil); p.err != nil {
		return p
	}
	m, err := n.report(ctx, w, n.fixture, probeEnv())
	if err != nil {
		p.carries = n.sessionFailed(w, probeEnv(), err)
		return p
	}
	p.carries = judge(w.String(), probeEnv(), probeEnv(), m.Self)
	return p
}

// errSpeechless says that no session can be opened at all.
var errSpeechless = errors.New("no exec session over SPDY or WebSocket")

// probeAll finds the ways of the runtime: SPDY, and the newest version of WebSocket that it speaks.
func (n *node) probeAll(ctx context.Context) error {
	var errs []error
	for _, protocols := range [][]client.Protocol{{client.SPDY}, {client.WebSocketV5, client.WebSocketV4}} {
		for _, protocol := range protocols {
			plain := n.probeWay(ctx, way{protocol, false})
			if plain.err != nil {
				n.refused = append(n.refused, Refused{string(protocol), plain.err.Error()})
				errs = append(errs, fmt.Errorf("%s: %w", protocol, plain.err))
				continue
			}
			n.probes = append(n.probes, plain, n.probeWay(ctx, way{protocol, true}))
			break
		}
	}
	if len(n.probes) == 0 {
		return errors.Join(append([]error{errSpeechless}, errs...)...)
	}
	return nil
}

// spoken are the ways that work at all.
func (n *node) spoken() (out []way) {
	for _, p := range n.probes {
		if p.err == nil {
			out = append(out, p.way)
		}
	}
	return out
}

// carriers are the ways in which environments arrive, so that a way that loses all of them fails the one case that is
// about that; the first way if there is none.
func (n *node) carriers() (out []way) {
	for _, p := range n.probes {
		if p.err == nil && p.carries.Err == nil && len(p.carries.Problems) == 0 {
			out = append(out, p.way)
		}
	}
	if len(out) == 0 {
		return n.spoken()[:1]
	}
	return out
}
