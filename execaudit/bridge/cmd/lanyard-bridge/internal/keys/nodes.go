package keys

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/lanyard-dev/lanyard/execaudit/bridge/readiness"
)

// node is a node's Lease.
type node struct {
	name string
	readiness.Lease
}

// nodes returns those whose daemon renews its Lease, by name.
func (k *cluster) nodes(ctx context.Context, now time.Time) ([]node, error) {
	leases, err := k.clients.CoordinationV1().Leases(k.namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	var nodes []node
	for _, lease := range leases.Items {
		name, ok := strings.CutPrefix(lease.Name, readiness.LeaseName(""))
		said, err := readiness.Parse(lease.Annotations)
		if !ok || err != nil || lease.Spec.RenewTime == nil || lease.Spec.LeaseDurationSeconds == nil {
			continue
		}
		n := node{name, readiness.Lease{
			Readiness: said, Renewed: lease.Spec.RenewTime.Time,
			Duration: time.Duration(*lease.Spec.LeaseDurationSeconds) * time.Second,
		}}
		if now.Before(n.Renewed.Add(n.Duration)) {
			nodes = append(nodes, n)
		}
	}
	slices.SortFunc(nodes, func(a, b node) int { return strings.Compare(a.name, b.name) })
	return nodes, nil
}

// list tells who has which key.
func (k *cluster) list(ctx context.Context, out io.Writer, now time.Time) error {
	_, keys, err := k.private(ctx)
	if err != nil {
		return err
	}
	m, has, err := k.public(ctx)
	if err != nil {
		return err
	}
	retired, err := retiredOf(m)
	if err != nil {
		return err
	}
	nodes, err := k.nodes(ctx, now)
	if err != nil {
		return err
	}
	for _, key := range merged(public(keys), has) {
		id := key.ID().String()
		what := "only in the config map"
		if at, ok := retired[id]; ok {
			what = "retired " + at.Format(time.RFC3339)
		}
		if i := slices.Index(public(keys), key); i >= 0 {
			what = role(i, keys[i], now)
			if !slices.Contains(has, key) {
				what += "; not in the config map: lanyard-bridge keys install adds it"
			}
		}
		on := 0
		for _, n := range nodes {
			if slices.Contains(n.Readiness.Keys, id) {
				on++
			}
		}
		if _, err := fmt.Fprintf(out, "%s  on %d of %d nodes  %s\n", id, on, len(nodes), what); err != nil {
			return err
		}
	}
	return nil
}

// some returns the first few names.
func some(names []string) string {
	if len(names) > 5 {
		return strings.Join(names[:5], ", ") + ", …"
	}
	return strings.Join(names, ", ")
}
