package agent_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/lanyard-dev/lanyard/execaudit/agent"
	"github.com/lanyard-dev/lanyard/redact"
)

func FuzzParseArgsPolicy(f *testing.F) {
	for _, text := range []string{"redact", "keep", "hash", "omit", "", "Keep", "redact "} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		p, err := agent.ParseArgsPolicy(text)
		if err == nil && p.Mode.String() != text || err != nil && !errors.Is(err, agent.ErrArgsPolicy) {
			t.Errorf("ParseArgsPolicy(%q) = %+v, %v", text, p, err)
		}
	})
}

func FuzzRedact(f *testing.F) {
	f.Add("--password=", "", false)
	f.Add("sh\x00-c\x00login --token ", " ; id", true)
	f.Add("curl\x00-H\x00Authorization: Bearer ", "\x00x", false)
	f.Fuzz(func(t *testing.T, before, after string, cut bool) {
		const secret = "ghp_abcdefghijklmnopqrstuvwxyz0123456789"
		k := track(agent.Options{})
		o := observation(agent.KindExec, 1, 5, inA)
		o.Args, o.ArgsCut = redact.NewBytes([]byte(before+" "+secret+" "+after)), cut
		k.Observe(o)
		k.Flush(booted)
		if command := k.events[0].Command; strings.Contains(command, secret) {
			t.Errorf("%q is told", command)
		}
	})
}
