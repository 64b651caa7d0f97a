package criwire_test

import (
	"bytes"
	"errors"
	"reflect"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/protoadapt"

	"github.com/lanyard-dev/lanyard/envprecedence"
	"github.com/lanyard-dev/lanyard/execaudit/criwire"
)

// pair and the requests below are what a generator would make of tomorrow's
// api.proto; protobuf reads their descriptors from the field tags.
type pair struct {
	Key   string `protobuf:"bytes,1,opt,name=key,proto3"`
	Value []byte `protobuf:"bytes,2,opt,name=value,proto3"`
}

func (m *pair) Reset()         { *m = pair{} }
func (m *pair) String() string { return "" }
func (*pair) ProtoMessage()    {}

type stringPair struct {
	Key   string `protobuf:"bytes,1,opt,name=key,proto3"`
	Value string `protobuf:"bytes,2,opt,name=value,proto3"`
}

func (m *stringPair) Reset()         { *m = stringPair{} }
func (m *stringPair) String() string { return "" }
func (*stringPair) ProtoMessage()    {}

type merged struct { // the KEP's message
	ContainerID      string  `protobuf:"bytes,1,opt,name=container_id,proto3"`
	Envs             []*pair `protobuf:"bytes,7,rep,name=envs,proto3"`
	XXX_unrecognized []byte
}

func (m *merged) Reset()         { *m = merged{} }
func (m *merged) String() string { return "" }
func (*merged) ProtoMessage()    {}

type older struct { // with values as strings, as before cri-api v0.36.4
	Envs []*stringPair `protobuf:"bytes,7,rep,name=envs,proto3"`
}

func (m *older) Reset()         { *m = older{} }
func (m *older) String() string { return "" }
func (*older) ProtoMessage()    {}

type renamed struct { // under another name
	Env []*pair `protobuf:"bytes,7,rep,name=env,proto3"`
}

func (m *renamed) Reset()         { *m = renamed{} }
func (m *renamed) String() string { return "" }
func (*renamed) ProtoMessage()    {}

type renumbered struct { // under another number
	Stdin7 bool    `protobuf:"varint,7,opt,name=other,proto3"`
	Envs   []*pair `protobuf:"bytes,8,rep,name=envs,proto3"`
}

func (m *renumbered) Reset()         { *m = renumbered{} }
func (m *renumbered) String() string { return "" }
func (*renumbered) ProtoMessage()    {}

type takenByText struct {
	Other string `protobuf:"bytes,7,opt,name=other,proto3"`
}

func (m *takenByText) Reset()         { *m = takenByText{} }
func (m *takenByText) String() string { return "" }
func (*takenByText) ProtoMessage()    {}

type takenByMessages struct {
	Other []*renumbered `protobuf:"bytes,7,rep,name=other,proto3"`
}

func (m *takenByMessages) Reset()         { *m = takenByMessages{} }
func (m *takenByMessages) String() string { return "" }
func (*takenByMessages) ProtoMessage()    {}

func reflected(m protoadapt.MessageV1) proto.Message { return protoadapt.MessageV2Of(m) }

func TestTypedField(t *testing.T) {
	envs := []env{envprecedence.NewEntry("A", "1"), envprecedence.NewEntry("B", ""), envprecedence.NewEntry("A", "2")}
	t.Run("EXA-17 the day cri-api has the field, it is used", func(t *testing.T) {
		m := &merged{ContainerID: "c1"}
		if err := criwire.WriteMessage(reflected(m).ProtoReflect(), envs); err != nil {
			t.Fatal(err)
		}
		if len(m.Envs) != 3 || m.Envs[0].Key != "A" || string(m.Envs[0].Value) != "1" || m.Envs[1].Key != "B" || len(m.Envs[1].Value) > 0 || m.XXX_unrecognized != nil {
			t.Errorf("Envs = %+v, unknown %x, want A=1, B=, A=2 in the field", m.Envs, m.XXX_unrecognized)
		}
		if got, err := criwire.ReadMessage(reflected(m).ProtoReflect()); err != nil || !reflect.DeepEqual(got, envs) {
			t.Errorf("Read = %q, %v", environ(got), err)
		}
	})
	t.Run("EXA-17 the bytes are the same with the field and without", func(t *testing.T) {
		with, without := &merged{}, &unaware{}
		for _, m := range []proto.Message{reflected(with), reflected(without)} {
			if err := criwire.WriteMessage(m.ProtoReflect(), envs); err != nil {
				t.Fatal(err)
			}
		}
		a, errA := proto.Marshal(reflected(with))
		b, errB := proto.Marshal(reflected(without))
		if errA != nil || errB != nil || !bytes.Equal(a, b) || len(a) == 0 {
			t.Fatalf("typed %x, %v, unknown %x, %v", a, errA, b, errB)
		}
		fresh := &unaware{}
		if err := proto.Unmarshal(a, reflected(fresh)); err != nil {
			t.Fatal(err)
		}
		if got, err := criwire.ReadMessage(reflected(fresh).ProtoReflect()); err != nil || !reflect.DeepEqual(got, envs) {
			t.Errorf("an older peer's Read = %q, %v", environ(got), err)
		}
	})
	t.Run("EXA-17 no entries: the field is empty, the rest stays", func(t *testing.T) {
		m := &merged{ContainerID: "c1", Envs: []*pair{{Key: "A"}}, XXX_unrecognized: []byte{0x48, 1}}
		if err := criwire.WriteMessage(reflected(m).ProtoReflect(), nil); err != nil || len(m.Envs) != 0 || m.ContainerID != "c1" || len(m.XXX_unrecognized) != 2 {
			t.Errorf("%v leaves %+v", err, m)
		}
		if got, err := criwire.ReadMessage(reflected(m).ProtoReflect()); got != nil || err != nil {
			t.Errorf("Read = %v, %v, want nothing", got, err)
		}
	})
	t.Run("EXA-17 the name was under review, the number counts", func(t *testing.T) {
		m := &renamed{}
		if err := criwire.WriteMessage(reflected(m).ProtoReflect(), envs); err != nil || len(m.Env) != 3 {
			t.Errorf("Write = %v, %d entries", err, len(m.Env))
		}
	})
	t.Run("EXA-17 the KEP's name counts before the number", func(t *testing.T) {
		m := &renumbered{}
		if err := criwire.WriteMessage(reflected(m).ProtoReflect(), envs); err != nil || len(m.Envs) != 3 {
			t.Errorf("Write = %v, %d entries", err, len(m.Envs))
		}
	})
	t.Run("a value that is no string where values are strings", func(t *testing.T) {
		m := &older{}
		if err := criwire.WriteMessage(reflected(m).ProtoReflect(), envs); err != nil || len(m.Envs) != 3 || m.Envs[0].Value != "1" {
			t.Fatalf("Write = %v, %v", err, m.Envs)
		}
		err := criwire.WriteMessage(reflected(m).ProtoReflect(), []env{envprecedence.NewEntry("A", "\xff")})
		if !errors.Is(err, criwire.ErrNotCarriable) || len(m.Envs) != 3 {
			t.Errorf("Write = %v, want %v and no change", err, criwire.ErrNotCarriable)
		}
	})
	t.Run("a key that is not UTF-8 is refused as without the field", func(t *testing.T) {
		m := &merged{Envs: []*pair{{Key: "A"}, {Key: "\xff"}}}
		if got, err := criwire.ReadMessage(reflected(m).ProtoReflect()); got != nil || !errors.Is(err, criwire.ErrNotCarriable) {
			t.Errorf("Read = %q, %v, want %v", environ(got), err, criwire.ErrNotCarriable)
		}
	})
	for name, m := range map[string]protoadapt.MessageV1{"text": &takenByText{}, "other messages": &takenByMessages{}} {
		t.Run("field 7 taken by "+name, func(t *testing.T) {
			if err := criwire.WriteMessage(reflected(m).ProtoReflect(), envs); !errors.Is(err, criwire.ErrFieldTaken) {
				t.Errorf("Write = %v, want %v", err, criwire.ErrFieldTaken)
			}
			if got, err := criwire.ReadMessage(reflected(m).ProtoReflect()); got != nil || !errors.Is(err, criwire.ErrFieldTaken) {
				t.Errorf("Read = %v, %v, want %v", got, err, criwire.ErrFieldTaken)
			}
		})
	}
	t.Run("bounds hold for the typed field too", func(t *testing.T) {
		many := &merged{Envs: make([]*pair, criwire.MaxEntries+1)}
		for i := range many.Envs {
			many.Envs[i] = &pair{}
		}
		if got, err := criwire.ReadMessage(reflected(many).ProtoReflect()); got != nil || !errors.Is(err, criwire.ErrTooMuch) {
			t.Errorf("Read = %d entries, %v", len(got), err)
		}
		large := &merged{Envs: []*pair{{Value: []byte(strings.Repeat("x", criwire.MaxBytes+1))}}}
		if got, err := criwire.ReadMessage(reflected(large).ProtoReflect()); got != nil || !errors.Is(err, criwire.ErrTooMuch) {
			t.Errorf("Read = %d entries, %v", len(got), err)
		}
	})
}

type unaware struct { // today's message
	ContainerID      string `protobuf:"bytes,1,opt,name=container_id,proto3"`
	XXX_unrecognized []byte
}

func (m *unaware) Reset()         { *m = unaware{} }
func (m *unaware) String() string { return "" }
func (*unaware) ProtoMessage()    {}
