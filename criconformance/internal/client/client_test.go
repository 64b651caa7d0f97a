package client_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/lanyard-dev/lanyard/criconformance/internal/client"
)

func TestRefused(t *testing.T) {
	for name, tt := range map[string]struct {
		err  error
		want bool
	}{
		"its own no":         {status.Error(codes.InvalidArgument, "x"), true},
		"an unspecific no":   {status.Error(codes.Unknown, "x"), true},
		"a stream that ends": {errors.New("x"), true},
		"a wrapped no":       {fmt.Errorf("y: %w", status.Error(codes.InvalidArgument, "x")), true},
		"nobody there":       {status.Error(codes.Unavailable, "x"), false},
		"no time left":       {fmt.Errorf("y: %w", context.DeadlineExceeded), false},
		"no answer in time":  {fmt.Errorf("y: %w", status.Error(codes.DeadlineExceeded, "x")), false},
		"given up":           {context.Canceled, false},
		"no error":           {nil, false},
	} {
		t.Run("CON-4 a runtime that says no is not a runtime that cannot be asked: "+name, func(t *testing.T) {
			if got := client.Refused(tt.err); got != tt.want {
				t.Errorf("Refused(%v) = %v, want %v", tt.err, got, tt.want)
			}
		})
	}
}

func TestDialRefusesNoEndpoint(t *testing.T) {
	if _, err := client.Dial("", ""); err == nil {
		t.Error("no error")
	}
}
