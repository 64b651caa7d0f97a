package runtime_test

import (
	"testing"

	"github.com/lanyard-dev/lanyard/examples/runtime/runtimetest"
	"github.com/lanyard-dev/lanyard/examples/testimage"
	"github.com/lanyard-dev/lanyard/execaudit"
)

func TestSmoke(t *testing.T) {
	n := serve(t, newConfig(t))
	ref := push(t, testimage.Spec{})
	n.Pull(t, ref)
	p := n.RunPod(t)
	c := p.Start(t, ref, []string{testimage.Program, "sleep"})
	for _, proto := range []runtimetest.Protocol{runtimetest.SPDY, runtimetest.WebSocket} {
		for _, tty := range []bool{false, true} {
			s := c.MustExec(t, &runtimetest.Session{Cmd: []string{testimage.Program}, Env: []execaudit.Env{{Name: "A", Value: "1"}}, TTY: tty, Protocol: proto})
			t.Log(proto, tty, s.Out.String(), s.Err.String(), s.Code)
		}
	}
}
