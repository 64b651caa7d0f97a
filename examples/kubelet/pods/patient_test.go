package pods

import (
	"context"
	"errors"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

func TestUntilAnswered(t *testing.T) {
	away := errors.New("connection refused")
	t.Run("a server that is back answers", func(t *testing.T) {
		asked := 0
		got, err := untilAnswered(t.Context(), func() (int, error) {
			if asked++; asked < 3 {
				return 0, away
			}
			return 7, nil
		})
		if got != 7 || err != nil {
			t.Errorf("untilAnswered = %d, %v, want the answer", got, err)
		}
	})
	t.Run("the server's own error is an answer", func(t *testing.T) {
		gone := apierrors.NewResourceExpired("too old")
		if _, err := untilAnswered(t.Context(), func() (int, error) { return 0, gone }); !errors.Is(err, gone) {
			t.Errorf("untilAnswered = %v, want %v", err, gone)
		}
	})
	t.Run("it ends with its context", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := untilAnswered(ctx, func() (int, error) { return 0, away }); !errors.Is(err, away) {
			t.Errorf("untilAnswered = %v, want %v", err, away)
		}
	})
}
