package streaming_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/lanyard-dev/lanyard/envprecedence"
	"github.com/lanyard-dev/lanyard/execaudit"
	"github.com/lanyard-dev/lanyard/execaudit/criwire"
	"github.com/lanyard-dev/lanyard/execaudit/streaming"
)

const id = "8762eafc25a35ab90089f79703b86659989e8e547c2c029fb60f55d884355000"

func TestPackJSON(t *testing.T) {
	t.Run("EXA-37 what JSON carries is packed as by Pack", func(t *testing.T) {
		environ := []string{"A=1", "B=\x01\n\u00e4\u2028\ufffd\U0010ffff", "A=2", "EMPTY="}
		for _, environ := range [][]string{environ, nil} {
			packed, err := streaming.PackJSON(request(t, id, environ...))
			if err != nil {
				t.Fatal(err)
			}
			if _, got, err := streaming.Unpack(packed.GetContainerId()); err != nil || !slices.Equal(got, environ) {
				t.Errorf("Unpack = %q, %v, want %q", got, err, environ)
			}
		}
	})
	t.Run("EXA-37 every value that is not UTF-8 is refused by the name of its entry", func(t *testing.T) {
		packed, err := streaming.PackJSON(request(t, id, "A=1", "B=hunter2\xff", "C=", "D=\xc3hunter2"))
		if packed != nil || !errors.Is(err, streaming.ErrNotJSON) || status.Code(err) != codes.InvalidArgument {
			t.Fatalf("PackJSON = %v, %v, want ErrNotJSON", packed, err)
		}
		for _, want := range []string{`entry 1 "B"`, `entry 3 "D"`, "not UTF-8"} {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("the error is %q, want %q in it", err, want)
			}
		}
		if strings.Contains(err.Error(), "hunter2") {
			t.Errorf("the error has a value: %v", err)
		}
	})
	t.Run("EXA-37 what Pack refuses is refused with the same error", func(t *testing.T) {
		for _, req := range []*runtimeapi.ExecRequest{nil, request(t, id, "A=\x00"), mustPack(t, request(t, id))} {
			_, want := streaming.Pack(req)
			if _, err := streaming.PackJSON(req); want == nil || err == nil || err.Error() != want.Error() {
				t.Errorf("PackJSON = %v, want %v", err, want)
			}
		}
	})
}

// request is an ExecRequest with these environ strings.
func request(t interface{ Fatal(...any) }, containerID string, environ ...string) *runtimeapi.ExecRequest {
	envs, err := envprecedence.Parse(environ)
	if err != nil {
		t.Fatal(err)
	}
	req := &runtimeapi.ExecRequest{ContainerId: containerID, Cmd: []string{"sh", "-c", "id"}, Stdin: true, Stdout: true}
	if err := criwire.Write(req, envs); err != nil {
		t.Fatal(err)
	}
	return req
}

func mustPack(t interface{ Fatal(...any) }, req *runtimeapi.ExecRequest) *runtimeapi.ExecRequest {
	packed, err := streaming.Pack(req)
	if err != nil {
		t.Fatal(err)
	}
	return packed
}

func TestPack(t *testing.T) {
	environ := []string{execaudit.AuditIDName + "=f4a3b2c1", "A=hunter2", "B=\xff\xfe\n", "EMPTY=", "A=again"}
	for name, environ := range map[string][]string{"with an environment": environ, "without": nil} {
		t.Run("EXA-36 the container ID carries the environment: "+name, func(t *testing.T) {
			packed := mustPack(t, request(t, id, environ...))
			containerID, got, err := streaming.Unpack(packed.GetContainerId())
			if err != nil || containerID != id || !slices.Equal(got, environ) || (got == nil) != (environ == nil) {
				t.Errorf("Unpack = %q, %q, %v, want %q, %q", containerID, got, err, id, environ)
			}
		})
	}
	t.Run("EXA-36 all else of the request is as it was, and the request too", func(t *testing.T) {
		req := request(t, id, environ...)
		foreign := protowire.AppendString(protowire.AppendTag(nil, 99, protowire.BytesType), "tomorrow's")
		req.ProtoReflect().SetUnknown(append(req.ProtoReflect().GetUnknown(), foreign...))
		before := proto.CloneOf(req)
		packed := mustPack(t, req)
		if !proto.Equal(req, before) {
			t.Error("Pack changed its argument")
		}
		want := &runtimeapi.ExecRequest{ContainerId: packed.GetContainerId(), Cmd: []string{"sh", "-c", "id"}, Stdin: true, Stdout: true}
		want.ProtoReflect().SetUnknown(foreign)
		if !proto.Equal(packed, want) {
			t.Errorf("Pack = %v, want %v", packed, want)
		}
	})
	t.Run("EXA-36 the ID is readable and shows no value, however it is printed", func(t *testing.T) {
		packed := mustPack(t, request(t, id, environ...))
		var log bytes.Buffer
		slog.New(slog.NewJSONHandler(&log, nil)).Info("exec", "request", packed)
		asJSON, err := protojson.Marshal(packed)
		if err != nil {
			t.Fatal(err)
		}
		for _, text := range []string{packed.GetContainerId(), packed.String(), fmt.Sprintf("%+v", packed), log.String(), string(asJSON)} {
			if !strings.Contains(text, id) || strings.Contains(text, "hunter2") || strings.Contains(text, execaudit.AuditIDName) {
				t.Errorf("printed as %q", text)
			}
		}
		other := mustPack(t, request(t, id, environ...))
		if other.GetContainerId() == packed.GetContainerId() {
			t.Error("the same environment looks the same twice")
		}
	})
	t.Run("EXA-36 the ID survives JSON and a line of text", func(t *testing.T) {
		packed := mustPack(t, request(t, id, environ...)).GetContainerId()
		wire, err := json.Marshal(packed)
		var back string
		if err = errors.Join(err, json.Unmarshal(wire, &back)); err != nil || back != packed || strings.ContainsAny(packed, "\n\"\\ /") || !utf8.ValidString(packed) {
			t.Errorf("%q, JSON %s, %v", packed, wire, err)
		}
	})
	t.Run("EXA-36 what an ExecRequest can carry at most", func(t *testing.T) {
		large := make([]string, criwire.MaxEntries)
		for i := range large {
			large[i] = fmt.Sprintf("A%04d=%s", i, strings.Repeat("x", criwire.MaxBytes/criwire.MaxEntries-5))
		}
		_, got, err := streaming.Unpack(mustPack(t, request(t, id, large...)).GetContainerId())
		if err != nil || !slices.Equal(got, large) {
			t.Errorf("Unpack = %d entries, %v", len(got), err)
		}
	})
}

func TestPackRefuses(t *testing.T) {
	packedID := mustPack(t, request(t, id)).GetContainerId()
	wrong := func(containerID string, envs ...envprecedence.Entry) *runtimeapi.ExecRequest {
		req := &runtimeapi.ExecRequest{ContainerId: containerID}
		if err := criwire.Write(req, envs); err != nil {
			t.Fatal(err)
		}
		return req
	}
	malformed := &runtimeapi.ExecRequest{ContainerId: id}
	malformed.ProtoReflect().SetUnknown([]byte{0x3a, 1, 0xff})
	tooMany := &runtimeapi.ExecRequest{ContainerId: id}
	tooMany.ProtoReflect().SetUnknown(bytes.Repeat([]byte{0x3a, 0}, criwire.MaxEntries+1))
	cases := []struct {
		name string
		req  *runtimeapi.ExecRequest
		want error
	}{
		{"no request", nil, streaming.ErrContainerID},
		{"no container, which the streaming server would not see any more", wrong(""), streaming.ErrContainerID},
		{"a container ID that is packed", wrong(packedID), streaming.ErrContainerID},
		{"a container ID that looks packed", wrong("c1+exec-env."), streaming.ErrContainerID},
		{"a NUL byte", wrong(id, envprecedence.NewEntry("A", "hunter2\x00")), envprecedence.ErrNUL},
		{"no name", wrong(id, envprecedence.NewEntry("", "hunter2")), envprecedence.ErrEmptyName},
		{"not a KeyValue", malformed, criwire.ErrMalformed},
		{"too many", tooMany, criwire.ErrTooMuch},
	}
	for _, c := range cases {
		t.Run("EXA-36 "+c.name, func(t *testing.T) {
			packed, err := streaming.Pack(c.req)
			if packed != nil || !errors.Is(err, c.want) || strings.Contains(fmt.Sprintf("%+v", err), "hunter2") {
				t.Errorf("Pack = %v, %v, want %v", packed, err, c.want)
			}
			if code := status.Code(err); code != codes.InvalidArgument {
				t.Errorf("gRPC would answer %v", code)
			}
		})
	}
}

func TestUnpackRefuses(t *testing.T) {
	packed := mustPack(t, request(t, id, "A=hunter2")).GetContainerId()
	empty := mustPack(t, request(t, id)).GetContainerId()
	own, sealed, _ := strings.Cut(packed, "+exec-env.")
	cases := []struct {
		name, id string
		want     error
	}{
		{"nothing", "", streaming.ErrNotPacked},
		{"an ID of the runtime's own", id, streaming.ErrNotPacked},
		{"nothing sealed", own + "+exec-env.", streaming.ErrForged},
		{"for another container", "other+exec-env." + sealed, streaming.ErrForged},
		{"for a shorter ID of the container", own[:13] + "+exec-env." + sealed, streaming.ErrForged},
		{"without its end", packed[:len(packed)-1], streaming.ErrForged},
		{"with more", packed + "A", streaming.ErrForged},
		{"with a line break", packed[:len(packed)-4] + "\n" + packed[len(packed)-4:], streaming.ErrForged},
		{"packed twice", packed + "+exec-env." + sealed, streaming.ErrForged},
		{"an empty one's seal over another's", empty[:len(empty)-4] + packed[len(packed)-4:], streaming.ErrForged},
		{"not base64url", own + "+exec-env.////", streaming.ErrForged},
		{"another process's", packedElsewhere(t), streaming.ErrForged},
	}
	for _, c := range cases {
		t.Run("EXA-36 "+c.name, func(t *testing.T) {
			containerID, environ, err := streaming.Unpack(c.id)
			if containerID != "" || environ != nil || !errors.Is(err, c.want) {
				t.Errorf("Unpack = %q, %q, %v, want %v", containerID, environ, err, c.want)
			}
			if err != nil && (strings.Contains(err.Error(), "hunter2") || strings.Contains(err.Error(), id)) {
				t.Errorf("%v holds what it refuses", err)
			}
		})
	}
	t.Run("EXA-36 no character can be changed", func(t *testing.T) {
		for i := range packed {
			for _, c := range []byte("A_.+\n\x00") {
				if changed := packed[:i] + string(c) + packed[i+1:]; changed != packed {
					if _, environ, err := streaming.Unpack(changed); err == nil {
						t.Fatalf("with %q at %d it is %q", c, i, environ)
					}
				}
			}
		}
	})
}

// packElsewhere is set in the process that packs for TestUnpackRefuses.
const packElsewhere = "LANYARD_TEST_PACK"

// packedElsewhere is an ID that another process packed: as after a restart of the runtime.
func packedElsewhere(t *testing.T) string {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^TestPackElsewhere$")
	cmd.Env = append(os.Environ(), packElsewhere+"=1")
	out, err := cmd.Output()
	packed, _, found := strings.Cut(string(out), "\n")
	if err != nil || !found || !strings.HasPrefix(packed, id) {
		t.Fatalf("the other process said %q, %v", out, err)
	}
	return packed
}

// TestPackElsewhere does nothing but in that process.
func TestPackElsewhere(t *testing.T) {
	if os.Getenv(packElsewhere) == "" {
		return
	}
	fmt.Println(mustPack(t, request(t, id, "A=1")).GetContainerId())
}
