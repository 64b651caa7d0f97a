package execaudit_test

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
	"pgregory.net/rapid"

	"github.com/lanyard-dev/lanyard/envprecedence"
	"github.com/lanyard-dev/lanyard/execaudit/criwire"
)

func ours(containerID string, envs []envprecedence.Entry) ([]byte, error) {
	req := &runtimeapi.ExecRequest{ContainerId: containerID}
	if err := criwire.Write(req, envs); err != nil {
		return nil, err
	}
	return proto.MarshalOptions{Deterministic: true}.Marshal(req)
}

func oursBack(wire []byte) ([]envprecedence.Entry, error) {
	req := new(runtimeapi.ExecRequest)
	if err := proto.Unmarshal(wire, req); err != nil {
		return nil, err
	}
	return criwire.Read(req)
}

// generated is the same list in a message of today's cri-api that has one:
// ContainerConfig.envs, field 6. No code can be faster without the field.
func generated(containerID string, envs []envprecedence.Entry) ([]byte, error) {
	m := &runtimeapi.ContainerConfig{WorkingDir: containerID, Envs: make([]*runtimeapi.KeyValue, len(envs))}
	for i := range envs {
		m.Envs[i] = &runtimeapi.KeyValue{Key: envs[i].Name, Value: []byte(envs[i].Value.Reveal())}
	}
	return proto.Marshal(m)
}

func generatedBack(wire []byte) ([]envprecedence.Entry, error) {
	m := new(runtimeapi.ContainerConfig)
	if err := proto.Unmarshal(wire, m); err != nil {
		return nil, err
	}
	envs := make([]envprecedence.Entry, len(m.GetEnvs()))
	for i, pair := range m.GetEnvs() {
		envs[i] = envprecedence.NewEntry(pair.GetKey(), string(pair.GetValue()))
	}
	return envs, nil
}

func TestWireAgrees(t *testing.T) {
	f := newFuture(t)
	t.Run("EXA-17 byte for byte what protobuf writes with the field", func(t *testing.T) {
		rapid.Check(t, func(t *rapid.T) {
			envs := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) envprecedence.Entry {
				return envprecedence.NewEntry(rapid.String().Draw(t, "name"), string(rapid.SliceOf(rapid.Byte()).Draw(t, "value")))
			}), 0, 9).Draw(t, "envs")
			a, errA := ours("c1", envs)
			b, errB := f.marshal("c1", envs)
			if errA != nil || errB != nil || !bytes.Equal(a, b) {
				t.Fatalf("ours %x, %v, protobuf's %x, %v", a, errA, b, errB)
			}
			x, errX := oursBack(b)
			y, errY := f.unmarshal(a)
			if errX != nil || errY != nil || !slices.EqualFunc(x, y, envprecedence.Entry.Equal) {
				t.Fatalf("ours %v, %v, protobuf's %v, %v", environ(x), errX, environ(y), errY)
			}
		})
	})
	t.Run("EXA-17 reads what protobuf reads from any bytes", func(t *testing.T) {
		rapid.Check(t, func(t *rapid.T) {
			wire := rapid.SliceOf(rapid.SampledFrom([]byte{0x3a, 0x0a, 0x12, 0, 1, 2, 3, 4, 5, 6, 'A', 0x38, 0x08, 0xff})).Draw(t, "wire")
			want, errWant := f.unmarshal(wire)
			got, errGot := oursBack(wire)
			if (errWant == nil) != (errGot == nil) || errWant == nil && !slices.EqualFunc(got, want, envprecedence.Entry.Equal) {
				t.Fatalf("%x: ours %v, %v, protobuf's %v, %v", wire, environ(got), errGot, environ(want), errWant)
			}
		})
	})
}

var sizes = []int{1, 16, 256, 4096}

func entries(n int) []envprecedence.Entry {
	envs := make([]envprecedence.Entry, n)
	for i := range envs {
		envs[i] = envprecedence.NewEntry(fmt.Sprintf("REQUESTED_VARIABLE_%05d", i), strings.Repeat("v", 20))
	}
	return envs
}

func BenchmarkWrite(b *testing.B) {
	f := newFuture(b)
	for _, n := range sizes {
		envs := entries(n)
		b.Run(fmt.Sprintf("%dentries", n), func(b *testing.B) {
			floor(b, must(ours("c1", envs)))
			measure(b, "lanyard", func() error { _, err := ours("c1", envs); return err })
			measure(b, "dynamicpb", func() error { _, err := f.marshal("c1", envs); return err })
			measure(b, "generated", func() error { _, err := generated("c1", envs); return err })
		})
	}
}

func BenchmarkRead(b *testing.B) {
	f := newFuture(b)
	for _, n := range sizes {
		wire, config := must(ours("c1", entries(n))), must(generated("c1", entries(n)))
		b.Run(fmt.Sprintf("%dentries", n), func(b *testing.B) {
			floor(b, wire)
			measure(b, "lanyard", func() error { _, err := oursBack(wire); return err })
			measure(b, "dynamicpb", func() error { _, err := f.unmarshal(wire); return err })
			measure(b, "generated", func() error { _, err := generatedBack(config); return err })
		})
	}
}

// environ returns each entry as NAME=VALUE.
func environ(envs []envprecedence.Entry) (all []string) {
	for _, e := range envs {
		all = append(all, e.Name+"="+e.Value.Reveal())
	}
	return all
}

// sink keeps the compiler from leaving out the copy of the floor.
var sink []byte

// floor copies the bytes once.
func floor(b *testing.B, wire []byte) {
	measure(b, "floor", func() error { sink = slices.Clone(wire); return nil })
}

func measure(b *testing.B, name string, once func() error) {
	b.Run(name, func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if err := once(); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func must(wire []byte, err error) []byte {
	if err != nil {
		panic(err)
	}
	return wire
}
