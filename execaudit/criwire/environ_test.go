package criwire_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/lanyard-dev/lanyard/envprecedence"
	"github.com/lanyard-dev/lanyard/execaudit/criwire"
)

func TestEnviron(t *testing.T) {
	t.Run("EXA-36 in order, duplicates kept, any bytes", func(t *testing.T) {
		req := new(runtimeapi.ExecRequest)
		if err := criwire.Write(req, []env{envprecedence.NewEntry("B", "1"), envprecedence.NewEntry("A", "\xff=\n"), envprecedence.NewEntry("B", "")}); err != nil {
			t.Fatal(err)
		}
		got, err := criwire.Environ(req)
		if want := []string{"B=1", "A=\xff=\n", "B="}; err != nil || !slices.Equal(got, want) {
			t.Errorf("Environ = %q, %v, want %q", got, err, want)
		}
	})
	for name, req := range map[string]*runtimeapi.ExecRequest{"no request": nil, "no environment": {ContainerId: "c1"}} {
		t.Run("EXA-36 "+name, func(t *testing.T) {
			if got, err := criwire.Environ(req); got != nil || err != nil {
				t.Errorf("Environ = %q, %v", got, err)
			}
		})
	}
	t.Run("EXA-36 every fault at once, as one InvalidArgument, without a value", func(t *testing.T) {
		req := new(runtimeapi.ExecRequest)
		if err := criwire.Write(req, []env{envprecedence.NewEntry("A", "hunter2\x00"), envprecedence.NewEntry("", "hunter2"), envprecedence.NewEntry("C", "1")}); err != nil {
			t.Fatal(err)
		}
		got, err := criwire.Environ(req)
		var invalid *criwire.InvalidError
		if got != nil || !errors.As(err, &invalid) || !errors.Is(err, envprecedence.ErrNUL) || !errors.Is(err, envprecedence.ErrEmptyName) {
			t.Fatalf("Environ = %q, %v", got, err)
		}
		for _, err := range []error{err, fmt.Errorf("exec: %w", err)} {
			s, ok := status.FromError(err)
			if !ok || s.Code() != codes.InvalidArgument || s.Message() != err.Error() || strings.Contains(s.Message(), "hunter2") {
				t.Errorf("status of %q = %v", err, s)
			}
		}
	})
	t.Run("EXA-36 what Read refuses", func(t *testing.T) {
		req := new(runtimeapi.ExecRequest)
		req.ProtoReflect().SetUnknown([]byte{0x3a, 1, 0xff})
		if got, err := criwire.Environ(req); got != nil || !errors.Is(err, criwire.ErrMalformed) || status.Code(err) != codes.InvalidArgument {
			t.Errorf("Environ = %q, %v", got, err)
		}
	})
}
