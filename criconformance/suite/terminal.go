package suite

import (
	"context"
	"fmt"
	"strings"
)

// terminalCases are about the ways themselves: what the probes saw before the other cases.
func terminalCases() []Case {
	return []Case{
		{
			Name: "envs/plain", Requirement: "CON-2", Feature: FeatureEnvs, Source: primitive, Sentence: injectAll,
			Fix: "inject the environment into sessions without a terminal",
			try: func(_ context.Context, n *node) observation { return n.probes[0].observation() },
		},
		{
			Name: "envs/terminal", Requirement: "CON-2", Feature: FeatureEnvs, Source: primitive, Sentence: injectAll,
			Fix: "inject the environment into sessions with a terminal, too",
			try: func(_ context.Context, n *node) observation { return n.probes[1].observation() },
		},
		{
			Name: "envs/every-protocol", Requirement: "CON-2", Feature: FeatureEnvs, Source: primitive, Sentence: injectAll,
			Fix: "carry the environment from the Exec call to the stream whatever protocol the client opens it with",
			try: otherProtocols,
		},
	}
}

func (p probe) observation() observation {
	if p.err != nil {
		return trouble(fmt.Errorf("exec over %s: %w", p.way, p.err))
	}
	return p.carries
}

func otherProtocols(_ context.Context, n *node) (o observation) {
	if len(n.probes) < 3 {
		return observation{Skipped: "the runtime speaks " + strings.Join(n.streams(), ", ") + " only"}
	}
	for _, p := range n.probes[2:] {
		o = o.and(p.observation())
	}
	return o
}

// streams names the protocols that the runtime speaks.
func (n *node) streams() (out []string) {
	for _, p := range n.probes {
		if !p.tty {
			out = append(out, string(p.protocol))
		}
	}
	return out
}
