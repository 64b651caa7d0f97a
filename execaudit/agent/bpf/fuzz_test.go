package bpf_test

import (
	"errors"
	"testing"

	"github.com/lanyard-dev/lanyard/execaudit/agent"
	"github.com/lanyard-dev/lanyard/execaudit/agent/bpf"
	"github.com/lanyard-dev/lanyard/redact"
)

func FuzzDecode(f *testing.F) {
	f.Add(encode(&agent.Observation{Kind: agent.KindFork, Task: agent.Task{PID: 2}, Parent: agent.Task{PID: 1}}))
	f.Add(encode(&agent.Observation{
		Kind: agent.KindExec, File: "/bin/true",
		Args: redact.NewBytes([]byte("true\x00")), Env: redact.NewBytes([]byte("A=1\x00")),
	}))
	f.Add(encode(&agent.Observation{Kind: agent.KindExit, Status: 256}))
	f.Fuzz(func(t *testing.T, record []byte) {
		var o, again agent.Observation
		if err := bpf.Decode(record, &o); err != nil {
			if !errors.Is(err, bpf.ErrMalformed) {
				t.Errorf("Decode = %v", err)
			}
			return
		}
		if err := bpf.Decode(encode(&o), &again); err == nil && !same(&o, &again) {
			t.Errorf("%+v was encoded and decoded to %+v", o, again)
		}
	})
}
