package kubelet

import (
	"context"
	"errors"
	"net/http"
	"time"
)

// Run serves and works until ctx ends, then closes what is open: sessions end,
// containers go on.
func (k *Kubelet) Run(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	ended := make(chan error, 3)
	go func() { ended <- k.http.ServeTLS(k.listener, "", "") }()
	go func() { k.node.keep(ctx, func(err error) { k.log.Warn("kubelet", "err", err) }); ended <- nil }()
	go func() { ended <- k.runPods(ctx) }()
	var err error
	select {
	case <-ctx.Done():
	case err = <-ended:
		ended <- nil
	}
	cancel()
	_ = k.http.Close()
	for range cap(ended) {
		if e := <-ended; e != nil && !errors.Is(e, http.ErrServerClosed) && !errors.Is(e, context.Canceled) {
			err = errors.Join(err, e)
		}
	}
	return errors.Join(err, k.close())
}

// runPods starts once the runtime has said what it can, because admission depends
// on it, and which images it has, because pulls that a crash ended depend on that.
func (k *Kubelet) runPods(ctx context.Context) error {
	for {
		_, err := k.node.learn(ctx)
		if err == nil {
			err = k.images.Recover(ctx)
		}
		if err == nil {
			return k.pods.Run(ctx)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(200 * time.Millisecond):
		}
	}
}

// runningPods counts for the metric; a runtime that does not answer has none.
func (k *Kubelet) runningPods() int {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	running, err := k.pods.Running(ctx)
	if err != nil {
		return 0
	}
	return len(running)
}
