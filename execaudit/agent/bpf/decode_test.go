package bpf_test

import (
	"encoding/binary"
	"errors"
	"reflect"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/lanyard-dev/lanyard/execaudit/agent"
	"github.com/lanyard-dev/lanyard/execaudit/agent/bpf"
	"github.com/lanyard-dev/lanyard/redact"
)

// The numbers' offsets in a record, as programs.c has them.
const recordBytes = 120

// encode is the kernel's side of Decode, for a record that can be.
func encode(o *agent.Observation) []byte {
	b := []byte{1, byte(o.Kind), 0, 0}
	if o.ArgsCut {
		b[2] = 1
	}
	u32 := func(numbers ...uint32) {
		for _, n := range numbers {
			b = binary.LittleEndian.AppendUint32(b, n)
		}
	}
	u64 := func(numbers ...uint64) {
		for _, n := range numbers {
			b = binary.LittleEndian.AppendUint64(b, n)
		}
	}
	var file string
	if o.File != "" {
		file = o.File + "\x00"
	}
	args, env := o.Args.Reveal(), o.Env.Reveal()
	u32(uint32(o.CPU))
	u64(o.Sequence, uint64(o.At), uint64(o.Start), uint64(o.Parent.Start), o.CgroupID, 0)
	u32(uint32(o.PID), uint32(o.Parent.PID), uint32(o.InnerPID), o.SessionID, o.LoginUID, o.MountNS, o.PIDNS)
	u32(o.UID, o.GID, o.EUID, o.EGID, uint32(o.Status), 0)
	u32(uint32(len(file)), uint32(len(args)), uint32(len(env)))
	b = append(b, file...)
	b = append(b, args...)
	return append(b, env...)
}

func drawObservation(t *rapid.T) *agent.Observation {
	number := rapid.Uint32()
	pid := rapid.IntRange(0, 1<<31-1)
	span := rapid.Custom(func(t *rapid.T) time.Duration { return time.Duration(rapid.Int64Min(0).Draw(t, "span")) })
	o := &agent.Observation{
		Kind: agent.Kind(rapid.IntRange(0, 2).Draw(t, "kind")), CPU: rapid.IntRange(0, 1<<16).Draw(t, "cpu"),
		Sequence: rapid.Uint64().Draw(t, "sequence"), At: span.Draw(t, "at"),
		Task:   agent.Task{PID: pid.Draw(t, "pid"), Start: span.Draw(t, "start")},
		Parent: agent.Task{PID: pid.Draw(t, "parent"), Start: span.Draw(t, "parent start")}, InnerPID: pid.Draw(t, "inner"),
		SessionID: number.Draw(t, "session"), LoginUID: number.Draw(t, "login UID"),
		CgroupID: rapid.Uint64().Draw(t, "cgroup"),
		MountNS:  number.Draw(t, "mounts"), PIDNS: number.Draw(t, "pids"),
		UID: number.Draw(t, "uid"), GID: number.Draw(t, "gid"),
		EUID: number.Draw(t, "euid"), EGID: number.Draw(t, "egid"), Status: rapid.IntRange(0, 1<<16).Draw(t, "status"),
	}
	if o.Kind == agent.KindExec {
		bytes := rapid.SliceOfN(rapid.Byte(), 0, 100)
		o.File = rapid.StringMatching(`[^\x00]{0,50}`).Draw(t, "file")
		o.Args, o.Env = redact.NewBytes(bytes.Draw(t, "args")), redact.NewBytes(bytes.Draw(t, "env"))
		o.ArgsCut = rapid.Bool().Draw(t, "cut")
	}
	return o
}

// same compares observations by what they hold; redact.Bytes are not compared by reflection.
func same(a, b *agent.Observation) bool {
	x, y := *a, *b
	equal := x.Args.Equal(y.Args) && x.Env.Equal(y.Env)
	x.Args, x.Env, y.Args, y.Env = redact.Bytes{}, redact.Bytes{}, redact.Bytes{}, redact.Bytes{}
	return equal && reflect.DeepEqual(x, y)
}

func TestDecode(t *testing.T) {
	t.Run("AGT-1 a record says what the kernel wrote", func(t *testing.T) {
		rapid.Check(t, func(t *rapid.T) {
			want := drawObservation(t)
			var got agent.Observation
			if err := bpf.Decode(encode(want), &got); err != nil {
				t.Fatal(err)
			}
			if !same(&got, want) {
				t.Fatalf("Decode = %+v, want %+v", got, *want)
			}
		})
	})
	t.Run("AGT-2 a part of a record is malformed", func(t *testing.T) {
		rapid.Check(t, func(t *rapid.T) {
			record := encode(drawObservation(t))
			var got agent.Observation
			part := record[:rapid.IntRange(0, len(record)-1).Draw(t, "length")]
			if err := bpf.Decode(part, &got); !errors.Is(err, bpf.ErrMalformed) {
				t.Fatalf("Decode of %d of %d bytes = %v", len(part), len(record), err)
			}
		})
	})
	for name, change := range map[string]func([]byte){
		"another layout":         func(b []byte) { b[0] = 2 },
		"an unknown kind":        func(b []byte) { b[1] = 3 },
		"a file without its end": func(b []byte) { b[recordBytes+len("/bin/true")] = 'x' },
		"a length too large":     func(b []byte) { binary.LittleEndian.PutUint32(b[112:], 1<<32-1) },
	} {
		t.Run("AGT-2 malformed: "+name, func(t *testing.T) {
			o := agent.Observation{Kind: agent.KindExec, File: "/bin/true", Args: redact.NewBytes([]byte("true\x00"))}
			record := encode(&o)
			change(record)
			if err := bpf.Decode(record, &o); !errors.Is(err, bpf.ErrMalformed) {
				t.Errorf("Decode = %v, want %v", err, bpf.ErrMalformed)
			}
		})
	}
}
