package criwire_test

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
	"pgregory.net/rapid"

	"github.com/lanyard-dev/lanyard/envprecedence"
	"github.com/lanyard-dev/lanyard/execaudit"
	"github.com/lanyard-dev/lanyard/execaudit/criwire"
)

type env = envprecedence.Entry

// environ returns each entry as NAME=VALUE.
func environ(envs []env) (all []string) {
	for _, e := range envs {
		all = append(all, e.Name+"="+e.Value.Reveal())
	}
	return all
}

func mustHex(t *testing.T, text string) []byte {
	t.Helper()
	b, err := hex.DecodeString(strings.ReplaceAll(text, " ", ""))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func marshal(t interface{ Fatal(...any) }, m proto.Message) []byte {
	b, err := proto.MarshalOptions{Deterministic: true}.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func received(t interface{ Fatal(...any) }, wire []byte) *runtimeapi.ExecRequest {
	req := new(runtimeapi.ExecRequest)
	if err := proto.Unmarshal(wire, req); err != nil {
		t.Fatal(err)
	}
	return req
}

func TestGoldens(t *testing.T) {
	cases := []struct {
		name string
		req  *runtimeapi.ExecRequest
		envs []env
		wire string
	}{
		{
			"EXA-17 after the stock fields", &runtimeapi.ExecRequest{ContainerId: "c1", Cmd: []string{"sh"}, Stdin: true, Stdout: true},
			[]env{envprecedence.NewEntry("A", "1")},
			"0a026331 12027368 2001 2801 3a060a0141120131",
		},
		{"EXA-17 an empty value is left out", &runtimeapi.ExecRequest{}, []env{envprecedence.NewEntry("A", "")}, "3a030a0141"},
		{
			"EXA-17 the placeholder", &runtimeapi.ExecRequest{},
			[]env{envprecedence.NewEntry(execaudit.AuditIDName, execaudit.PlaceholderAuditID)},
			"3a23 0a18 4b554245524e455445535f455845435f41554449545f4944 1207 756e6b6e6f776e",
		},
		{"EXA-17 a value may be any bytes", &runtimeapi.ExecRequest{}, []env{envprecedence.NewEntry("B", "\xff\xfe")}, "3a070a01421202fffe"},
		{"EXA-17 repeated, in order", &runtimeapi.ExecRequest{}, []env{envprecedence.NewEntry("B", ""), envprecedence.NewEntry("A", ""), envprecedence.NewEntry("B", "")}, "3a030a0142 3a030a0141 3a030a0142"},
		{"EXA-17 none", &runtimeapi.ExecRequest{ContainerId: "c"}, nil, "0a0163"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			want := mustHex(t, c.wire)
			if err := criwire.Write(c.req, c.envs); err != nil {
				t.Fatal(err)
			}
			if got := marshal(t, c.req); !bytes.Equal(got, want) {
				t.Errorf("wire %x, want %x", got, want)
			}
			if got, err := criwire.Read(received(t, want)); err != nil || !reflect.DeepEqual(got, c.envs) {
				t.Errorf("Read(%x) = %q, %v", want, environ(got), err)
			}
		})
	}
}

func TestSurvives(t *testing.T) {
	envs := []env{envprecedence.NewEntry("A", "1"), envprecedence.NewEntry("B", "")}
	req := &runtimeapi.ExecRequest{ContainerId: "c"}
	if err := criwire.Write(req, envs); err != nil {
		t.Fatal(err)
	}
	again := map[string]*runtimeapi.ExecRequest{
		"EXA-17 clone":              proto.Clone(req).(*runtimeapi.ExecRequest),
		"EXA-17 marshal and back":   received(t, marshal(t, req)),
		"EXA-17 twice through wire": received(t, marshal(t, received(t, marshal(t, req)))),
	}
	for name, copied := range again {
		t.Run(name, func(t *testing.T) {
			if got, err := criwire.Read(copied); err != nil || !reflect.DeepEqual(got, envs) {
				t.Errorf("Read = %q, %v", environ(got), err)
			}
		})
	}
	t.Run("a clone is independent", func(t *testing.T) {
		clone := proto.Clone(req).(*runtimeapi.ExecRequest)
		if err := criwire.Write(clone, nil); err != nil {
			t.Fatal(err)
		}
		if got, _ := criwire.Read(req); len(got) != 2 {
			t.Errorf("writing the clone changed the original: %q", environ(got))
		}
	})
}

func TestStrangersFieldsStay(t *testing.T) {
	stranger := protowire.AppendTag(nil, 9, protowire.BytesType)
	stranger = protowire.AppendString(stranger, "kept")
	stranger = protowire.AppendTag(stranger, 7, protowire.VarintType) // not repeated KeyValue
	stranger = protowire.AppendVarint(stranger, 5)

	t.Run("EXA-17 other unknown fields stay", func(t *testing.T) {
		wire := append(mustHex(t, "0a0163 3a030a0141"), stranger...)
		req := received(t, wire)
		if err := criwire.Write(req, []env{envprecedence.NewEntry("B", "")}); err != nil {
			t.Fatal(err)
		}
		if got, want := marshal(t, req), append(append(mustHex(t, "0a0163"), stranger...), mustHex(t, "3a030a0142")...); !bytes.Equal(got, want) {
			t.Errorf("wire %x, want %x", got, want)
		}
		if err := criwire.Write(req, nil); err != nil {
			t.Fatal(err)
		}
		if got, want := marshal(t, req), append(mustHex(t, "0a0163"), stranger...); !bytes.Equal(got, want) {
			t.Errorf("without entries: wire %x, want %x", got, want)
		}
		if got, err := criwire.Read(req); got != nil || err != nil {
			t.Errorf("Read = %v, %v, want nothing", got, err)
		}
	})
	t.Run("EXA-17 an older peer ignores the field", func(t *testing.T) {
		req := received(t, mustHex(t, "0a026331 12027368 2001 2801 3a060a0141120131"))
		if req.GetContainerId() != "c1" || len(req.GetCmd()) != 1 || !req.GetStdin() || !req.GetStdout() || req.GetStderr() || req.GetTty() {
			t.Errorf("the stock fields read %v", req)
		}
	})
}

func TestRead(t *testing.T) {
	cases := []struct {
		name, wire string
		want       []env
		err        error
	}{
		{"fields in another order", "3a06 120131 0a0141", []env{envprecedence.NewEntry("A", "1")}, nil},
		{"the last of a doubled field counts", "3a09 0a0141 120131 0a0142", []env{envprecedence.NewEntry("B", "1")}, nil},
		{"an unknown field in the pair", "3a08 0a0141 1801 120131", []env{envprecedence.NewEntry("A", "1")}, nil},
		{"a pair with nothing in it", "3a00", []env{{}}, nil},
		{"a pair cut short", "3a02 0a05", nil, criwire.ErrMalformed},
		{"a pair with a bad tag", "3a01 ff", nil, criwire.ErrMalformed},
		{"a key that is not UTF-8", "3a06 0a01ff 120131", nil, criwire.ErrNotCarriable},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			got, err := criwire.Read(received(t, mustHex(t, c.wire)))
			if !reflect.DeepEqual(got, c.want) || !errors.Is(err, c.err) {
				t.Errorf("Read = %q, %v, want %q, %v", environ(got), err, environ(c.want), c.err)
			}
		})
	}
	t.Run("no request", func(t *testing.T) {
		if got, err := criwire.Read(nil); got != nil || err != nil {
			t.Errorf("Read(nil) = %v, %v", got, err)
		}
	})
	t.Run("what was read does not change with the request", func(t *testing.T) {
		req := received(t, mustHex(t, "3a060a0141120131"))
		got, err := criwire.Read(req)
		clear(req.ProtoReflect().GetUnknown())
		if err != nil || !reflect.DeepEqual(got, []env{envprecedence.NewEntry("A", "1")}) {
			t.Errorf("Read = %q, %v", environ(got), err)
		}
	})
}

func TestBounds(t *testing.T) {
	const secret = "hunter2"
	many := make([]env, criwire.MaxEntries+1)
	large := []env{envprecedence.NewEntry("A", secret+strings.Repeat("x", criwire.MaxBytes-len(secret)))}
	refused := map[string]struct {
		envs []env
		err  error
		text string
	}{
		"too many entries":           {many, criwire.ErrTooMuch, "exec environment too large: 4097 entries exceed 4096"},
		"too many bytes":             {large, criwire.ErrTooMuch, "exec environment too large: 1048577 bytes exceed 1048576"},
		"a key that is not UTF-8":    {[]env{{}, envprecedence.NewEntry("\xff", secret)}, criwire.ErrNotCarriable, "entry cannot travel in an ExecRequest: the key of entry 1 is not valid UTF-8"},
		"a key with half a letter\t": {[]env{envprecedence.NewEntry("\xc3", secret)}, criwire.ErrNotCarriable, "entry cannot travel in an ExecRequest: the key of entry 0 is not valid UTF-8"},
	}
	for name, c := range refused {
		t.Run("Write refuses "+name, func(t *testing.T) {
			req := received(t, mustHex(t, "0a0163 3a030a0141"))
			before := marshal(t, req)
			if err := criwire.Write(req, c.envs); !errors.Is(err, c.err) || err.Error() != c.text {
				t.Errorf("Write = %v, want %s", err, c.text)
			}
			if !bytes.Equal(marshal(t, req), before) {
				t.Error("the request changed")
			}
		})
	}
	t.Run("unknown fields that do not parse are refused and stay", func(t *testing.T) {
		req := &runtimeapi.ExecRequest{}
		req.ProtoReflect().SetUnknown([]byte{0xff})
		if err := criwire.Write(req, []env{envprecedence.NewEntry("A", "")}); !errors.Is(err, criwire.ErrMalformed) {
			t.Errorf("Write = %v, want %v", err, criwire.ErrMalformed)
		}
		if got := req.ProtoReflect().GetUnknown(); !bytes.Equal(got, []byte{0xff}) {
			t.Errorf("Write leaves %x, want ff", got)
		}
		if got, err := criwire.Read(req); got != nil || !errors.Is(err, criwire.ErrMalformed) {
			t.Errorf("Read = %q, %v, want %v", environ(got), err, criwire.ErrMalformed)
		}
	})
	t.Run("Read refuses too many entries", func(t *testing.T) {
		if got, err := criwire.Read(received(t, bytes.Repeat([]byte{0x3a, 0}, criwire.MaxEntries+1))); got != nil || !errors.Is(err, criwire.ErrTooMuch) {
			t.Errorf("Read = %d entries, %v", len(got), err)
		}
	})
	t.Run("Read refuses too many bytes", func(t *testing.T) {
		pair := protowire.AppendTag(nil, 2, protowire.BytesType)
		pair = protowire.AppendBytes(pair, make([]byte, criwire.MaxBytes+1))
		wire := protowire.AppendTag(nil, 7, protowire.BytesType)
		wire = protowire.AppendBytes(wire, pair)
		if got, err := criwire.Read(received(t, wire)); got != nil || !errors.Is(err, criwire.ErrTooMuch) {
			t.Errorf("Read = %d entries, %v", len(got), err)
		}
	})
	t.Run("both take what is at the bounds", func(t *testing.T) {
		req := new(runtimeapi.ExecRequest)
		full := make([]env, criwire.MaxEntries)
		for i := range full {
			full[i] = envprecedence.NewEntry(fmt.Sprintf("%04d", i), strings.Repeat("v", criwire.MaxBytes/criwire.MaxEntries-4))
		}
		if err := criwire.Write(req, full); err != nil {
			t.Fatal(err)
		}
		if got, err := criwire.Read(req); err != nil || !reflect.DeepEqual(got, full) {
			t.Errorf("Read = %d entries, %v", len(got), err)
		}
	})
}

// TestOtherRequestsCarryNone holds what the KEP leaves out, left out: no call here
// takes the other requests, and they have no field of their own.
func TestOtherRequestsCarryNone(t *testing.T) {
	t.Run("EXA-18 only an ExecRequest can be written or read", func(t *testing.T) {
		exec := reflect.TypeFor[*runtimeapi.ExecRequest]()
		for name, call := range map[string]any{"Write": criwire.Write, "Read": criwire.Read} {
			if got := reflect.TypeOf(call).In(0); got != exec {
				t.Errorf("%s takes %s, want %s", name, got, exec)
			}
		}
	})
	t.Run("EXA-18 no environment reaches them by way of an ExecRequest", func(t *testing.T) {
		req := &runtimeapi.ExecRequest{ContainerId: "c", Cmd: []string{"sh"}}
		if err := criwire.Write(req, []env{envprecedence.NewEntry("A", "1")}); err != nil {
			t.Fatal(err)
		}
		sync := &runtimeapi.ExecSyncRequest{ContainerId: req.GetContainerId(), Cmd: req.GetCmd()}
		attach := &runtimeapi.AttachRequest{ContainerId: req.GetContainerId(), Tty: req.GetTty()}
		for _, m := range []proto.Message{sync, attach} {
			fields := m.ProtoReflect().Descriptor().Fields()
			if fields.ByName("envs") != nil || fields.ByNumber(7) != nil || len(m.ProtoReflect().GetUnknown()) > 0 {
				t.Errorf("%T carries an environment", m)
			}
		}
	})
}

func TestWireLaws(t *testing.T) {
	envs := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) env {
		value := rapid.SliceOfN(rapid.Byte(), 0, 9).Draw(t, "value")
		return envprecedence.NewEntry(rapid.String().Draw(t, "name"), string(value))
	}), 0, 9)
	t.Run("EXA-17 read is what was written, last write wins, over the wire too", func(t *testing.T) {
		rapid.Check(t, func(t *rapid.T) {
			req := &runtimeapi.ExecRequest{ContainerId: rapid.StringMatching(`[a-f0-9]{0,8}`).Draw(t, "id"), Tty: rapid.Bool().Draw(t, "tty")}
			stock := marshal(t, req)
			first, second := envs.Draw(t, "first"), envs.Draw(t, "second")
			if err := criwire.Write(req, first); err != nil {
				t.Fatal(err)
			}
			if err := criwire.Write(req, second); err != nil {
				t.Fatal(err)
			}
			got, err := criwire.Read(received(t, marshal(t, req)))
			if err != nil || len(got) != len(second) || len(got) > 0 && !reflect.DeepEqual(got, second) {
				t.Fatalf("Read = %q, %v, want %q", environ(got), err, environ(second))
			}
			if err := criwire.Write(req, nil); err != nil || !bytes.Equal(marshal(t, req), stock) {
				t.Fatalf("taking the environment out leaves %x, %v, want %x", marshal(t, req), err, stock)
			}
		})
	})
}

func FuzzRead(f *testing.F) {
	for _, seed := range []string{"", "3a00", "3a030a0141", "3a060a0141120131", "3a06120131 0a0141", "3a020a05", "3a01ff", "3805", "4a0178 3a030a0141", "3a060a01ff120131"} {
		b, err := hex.DecodeString(strings.ReplaceAll(seed, " ", ""))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, wire []byte) {
		req := new(runtimeapi.ExecRequest)
		if proto.Unmarshal(wire, req) != nil {
			req = &runtimeapi.ExecRequest{}
			req.ProtoReflect().SetUnknown(wire) // what no peer can send must not panic either
		}
		envs, err := criwire.Read(req)
		if err != nil {
			return
		}
		if len(envs) > criwire.MaxEntries {
			t.Fatalf("Read = %d entries", len(envs))
		}
		if err := criwire.Write(req, envs); err != nil {
			t.Fatalf("what was read cannot be written: %v", err)
		}
		if again, err := criwire.Read(req); err != nil || !reflect.DeepEqual(again, envs) {
			t.Fatalf("Read = %q, written and read %q, %v", environ(envs), environ(again), err)
		}
	})
}
