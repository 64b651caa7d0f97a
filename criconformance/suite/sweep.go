package suite

import (
	"context"
	"errors"
	"fmt"
	"regexp"

	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/lanyard-dev/lanyard/criconformance/internal/images"
)

// The labels of everything that a run makes, and their values but for the run's own.
const (
	suiteLabel = "dev.lanyard.criconformance"
	suiteValue = "suite"
	runLabel   = images.RunLabel
	portLabel  = "dev.lanyard.criconformance.port"
)

func (n *node) labels() map[string]string {
	return map[string]string{suiteLabel: suiteValue, runLabel: n.run, portLabel: n.registry.Port()}
}

// owner is the run that something belongs to, and where that run's registry listens while it is alive.
type owner struct{ run, port string }

// ownedReference finds the owner in an image's name.
var ownedReference = regexp.MustCompile(`^localhost:([0-9]+)/` + regexp.QuoteMeta(images.Repository) + `/run-([a-z0-9]+)[:@]`)

// sweepDead removes what dead runs left.
func (n *node) sweepDead(ctx context.Context) error {
	known := map[owner]bool{}
	return n.sweep(ctx, func(o owner) bool {
		dead, ok := known[o]
		if !ok {
			dead = o.run != n.run && !images.Alive(ctx, o.port, o.run)
			known[o] = dead
		}
		return dead
	}, "")
}

// sweep removes the pods and images of owners that is says yes to, of one run only unless that is empty.
func (n *node) sweep(ctx context.Context, is func(owner) bool, run string) error {
	selector := map[string]string{suiteLabel: suiteValue}
	if run != "" {
		selector[runLabel] = run
	}
	resp, err := n.client.ListPodSandbox(ctx, &runtimeapi.ListPodSandboxRequest{Filter: &runtimeapi.PodSandboxFilter{LabelSelector: selector}})
	if err != nil {
		return fmt.Errorf("ListPodSandbox: %w", err)
	}
	var errs []error
	for _, p := range resp.GetItems() {
		l := p.GetLabels()
		if l[suiteLabel] == suiteValue && is(owner{l[runLabel], l[portLabel]}) {
			errs = append(errs, n.removePod(ctx, p.GetId()))
		}
	}
	return errors.Join(append(errs, n.sweepImages(ctx, is, run))...)
}

func (n *node) removePod(ctx context.Context, id string) error {
	if _, err := n.client.StopPodSandbox(ctx, &runtimeapi.StopPodSandboxRequest{PodSandboxId: id}); err != nil {
		return fmt.Errorf("StopPodSandbox: %w", err)
	}
	if _, err := n.client.RemovePodSandbox(ctx, &runtimeapi.RemovePodSandboxRequest{PodSandboxId: id}); err != nil {
		return fmt.Errorf("RemovePodSandbox: %w", err)
	}
	return nil
}

func (n *node) sweepImages(ctx context.Context, is func(owner) bool, run string) error {
	resp, err := n.client.Images.ListImages(ctx, &runtimeapi.ListImagesRequest{})
	if err != nil {
		return fmt.Errorf("ListImages: %w", err)
	}
	var errs []error
	for _, i := range resp.GetImages() {
		o, ok := imageOwner(i)
		if !ok || run != "" && o.run != run || !is(o) {
			continue
		}
		_, err := n.client.Images.RemoveImage(ctx, &runtimeapi.RemoveImageRequest{Image: &runtimeapi.ImageSpec{Image: i.GetId()}})
		if err != nil {
			errs = append(errs, fmt.Errorf("RemoveImage: %w", err))
		}
	}
	return errors.Join(errs...)
}

// imageOwner is the run whose image this is. An image that somebody has given another name is left alone.
func imageOwner(i *runtimeapi.Image) (o owner, ok bool) {
	for _, name := range append(i.GetRepoTags(), i.GetRepoDigests()...) {
		m := ownedReference.FindStringSubmatch(name)
		if m == nil || ok && o.port != m[1] {
			return owner{}, false
		}
		o, ok = owner{m[2], m[1]}, true
	}
	return o, ok
}
