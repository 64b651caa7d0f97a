package pods

import (
	"context"
	"errors"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
)

// askAgain is the pause between two attempts to reach an API server that is away.
const askAgain = 500 * time.Millisecond

// patient asks again at a steady pace while the API server does not answer. The
// informer's own pauses grow to half a minute, in which a node would not notice
// that the server is back.
func patient(from cache.ListerWatcherWithContext) *cache.ListWatch {
	return &cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
			return untilAnswered(ctx, func() (runtime.Object, error) { return from.ListWithContext(ctx, o) })
		},
		WatchFuncWithContext: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
			return untilAnswered(ctx, func() (watch.Interface, error) { return from.WatchWithContext(ctx, o) })
		},
	}
}

// untilAnswered returns the first answer: a result, or an error that the API server
// itself gave.
func untilAnswered[T any](ctx context.Context, ask func() (T, error)) (T, error) {
	for {
		answer, err := ask()
		var status apierrors.APIStatus
		if err == nil || errors.As(err, &status) {
			return answer, err
		}
		select {
		case <-ctx.Done():
			return answer, err
		case <-time.After(askAgain):
		}
	}
}
