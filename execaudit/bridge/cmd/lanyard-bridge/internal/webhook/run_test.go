package webhook

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"syscall"
	"testing"

	admissionv1 "k8s.io/api/admission/v1"
)

func TestEnd(t *testing.T) {
	t.Run("BRG-6 a request under way is answered, and readiness goes first", func(t *testing.T) {
		r := newRig(t)
		r.start()
		if status, _ := r.get(r.metrics + "/readyz"); status != http.StatusOK {
			t.Fatalf("status %d", status)
		}
		r.api.mu.Lock()
		r.api.held = make(chan struct{})
		fresh := runningPod("shop", "fresh")
		r.api.live["shop/fresh"] = &fresh
		r.api.mu.Unlock()
		answered := make(chan *admissionv1.AdmissionResponse)
		go func() { answered <- r.exec(r.caller(nil), "/"+secretPath+"/mutate", "fresh") }()
		eventually(t, "the lookup is under way", func() bool { return r.api.asked() == 1 })
		r.stop()
		eventually(t, "it is not ready any more", func() bool {
			response, err := http.Get(r.metrics + "/readyz")
			if err != nil {
				return false
			}
			return response.Body.Close() == nil && response.StatusCode == http.StatusServiceUnavailable
		})
		close(r.api.held)
		if got := <-answered; got.AuditAnnotations["outcome"] != "marked" {
			t.Fatalf("%+v", got)
		}
		if err := <-r.ended; err != nil {
			t.Fatal(err)
		}
		if got := r.records(); len(got) != 1 {
			t.Fatalf("%d records", len(got))
		}
	})
	t.Run("BRG-6 it can be ended before it knows the cluster", func(t *testing.T) {
		r := newRig(t)
		r.api.CloseClientConnections()
		r.api.Close()
		ctx, cancel := context.WithCancel(context.Background())
		go func() { r.ended <- run(ctx, r.options, slog.New(slog.DiscardHandler)) }()
		cancel()
		if err := <-r.ended; err != nil {
			t.Fatal(err)
		}
	})
	t.Run("BRG-6 an address that is taken", func(t *testing.T) {
		r := newRig(t)
		taken, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer taken.Close()
		r.options.Listen = taken.Addr().String()
		if err := run(t.Context(), r.options, slog.New(slog.DiscardHandler)); !errors.Is(err, syscall.EADDRINUSE) {
			t.Fatalf("run = %v", err)
		}
	})
}
