//go:build linux

package node

import (
	"context"
	"fmt"
	"maps"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	coordination "k8s.io/client-go/kubernetes/typed/coordination/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/lanyard-dev/lanyard/execaudit/bridge/readiness"
)

func leaseName(node string) string { return readiness.LeaseName(node) }

// client returns the Leases of the daemon's namespace.
func (o *Options) client() (coordination.LeaseInterface, error) {
	if o.leases != nil {
		return o.leases, nil
	}
	config, err := rest.InClusterConfig()
	if o.Kubeconfig != "" {
		config, err = clientcmd.BuildConfigFromFlags("", o.Kubeconfig)
	}
	if err != nil {
		return nil, fmt.Errorf("credentials for the API server: %w", err)
	}
	config.UserAgent = "lanyard-bridge-node"
	clients, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	return clients.CoordinationV1().Leases(o.Namespace), nil
}

// keeper renews the Lease, and before that looks whether the node is ready.
type keeper struct {
	Options
	status *board
	leases coordination.LeaseInterface // nil for no Lease
	last   *coordinationv1.Lease       // as the API server has it; nil where that is not known
}

// run works until the context ends. The Lease is left to expire then: a daemon that comes back soon finds its node
// ready all along, since the wrapper needs no daemon.
func (k *keeper) run(ctx context.Context) {
	every := time.NewTicker(k.LeaseDuration / renewals)
	defer every.Stop()
	for {
		k.tick(ctx)
		select {
		case <-ctx.Done():
			return
		case <-every.C:
		}
	}
}

func (k *keeper) tick(ctx context.Context) {
	err := k.copyKeys()
	if err != nil {
		k.log.Error("keys cannot be copied", "error", err)
	}
	k.status.keys(err)
	ready, handlers, err := k.check()
	if err != nil {
		k.log.Error("what is installed is not known", "error", err)
	}
	before := k.status.Status().Handlers
	for name, h := range handlers {
		if old, known := before[name]; !known || old.Reason != h.Reason {
			k.log.Info("runtime handler", "handler", name, "ready", h.Ready, "reason", h.Reason)
		}
	}
	k.status.readiness(ready.Keys, handlers, err)
	if k.leases == nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, k.LeaseDuration/renewals)
	defer cancel()
	at := k.now().UTC()
	err = k.renew(ctx, ready, at)
	if err != nil {
		err = fmt.Errorf("renewing %s: %w", leaseName(k.Node), err)
		k.log.Error("the lease is as it was", "error", err)
	}
	k.status.renewal(at, err)
}

func (k *keeper) renew(ctx context.Context, ready readiness.Readiness, at time.Time) error {
	if k.last == nil {
		lease, err := k.leases.Get(ctx, leaseName(k.Node), metav1.GetOptions{})
		switch {
		case apierrors.IsNotFound(err):
			lease = &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Name: leaseName(k.Node)}}
			k.fill(lease, ready, at)
			k.last, err = k.leases.Create(ctx, lease, metav1.CreateOptions{})
			return k.sure(err)
		case err != nil:
			return err
		}
		k.last = lease
	}
	lease := k.last.DeepCopy()
	k.fill(lease, ready, at)
	updated, err := k.leases.Update(ctx, lease, metav1.UpdateOptions{})
	k.last = updated
	return k.sure(err)
}

// sure forgets what the API server had after an error.
func (k *keeper) sure(err error) error {
	if err != nil {
		k.last = nil
	}
	return err
}

func (k *keeper) fill(lease *coordinationv1.Lease, ready readiness.Readiness, at time.Time) {
	if lease.Annotations == nil {
		lease.Annotations = map[string]string{}
	}
	maps.Copy(lease.Annotations, ready.Annotations())
	seconds, renewed := int32(k.LeaseDuration/time.Second), metav1.NewMicroTime(at)
	lease.Spec.HolderIdentity, lease.Spec.LeaseDurationSeconds, lease.Spec.RenewTime = &k.Node, &seconds, &renewed
}
