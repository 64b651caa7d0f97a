package puller

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/lanyard-dev/lanyard/credprovider"
	"github.com/lanyard-dev/lanyard/credprovider/pulled"
)

// mustPull reports whether the pod may not use the image as it is on the node.
func (p *Puller) mustPull(ctx context.Context, pod *corev1.Pod, image, ref string) (bool, error) {
	if p.Records == nil || ref == "" {
		return ref == "", nil
	}
	// What everybody may use costs no question to the API server.
	if !p.ask(image, ref, pulled.Holder{}) {
		return false, nil
	}
	if pod.Spec.ServiceAccountName == "" {
		return true, nil
	}
	account, err := p.Accounts.ServiceAccount(ctx, pod.Namespace, pod.Spec.ServiceAccountName)
	if err != nil {
		return true, err
	}
	holder := account.Ref()
	return p.ask(image, ref, pulled.Holder{Account: &holder}), nil
}

// ask returns the records' answer, which holds also when they are damaged.
func (p *Puller) ask(image, ref string, holder pulled.Holder) bool {
	must, err := p.Records.MustPull(image, ref, p.Policy, holder)
	if err != nil {
		p.Log.Warn("record of a pulled image", "image", image, "err", err)
	}
	return must
}

func (p *Puller) begin(image string) error {
	if p.Records == nil {
		return nil
	}
	return p.Records.Begin(image)
}

func (p *Puller) abandon(image string) error {
	if p.Records == nil {
		return nil
	}
	return p.Records.Abandon(image)
}

func (p *Puller) complete(image, ref string, access pulled.Access) error {
	if p.Records == nil {
		return nil
	}
	return p.Records.Complete(image, ref, access)
}

// Recover ends the pulls that a crash left open: an image that is on the node is
// nobody's until somebody pulls it again. Call it once the runtime answers, before
// the first Ensure. The error is the runtime's.
func (p *Puller) Recover(ctx context.Context) error {
	if p.Records == nil {
		return nil
	}
	list, err := p.Images.ListImages(ctx, &runtimeapi.ListImagesRequest{})
	if err != nil {
		return err
	}
	ids := byName(list.GetImages())
	if _, err := p.Records.Recover(func(image string) string { return ids[canonical(image)] }); err != nil {
		p.Log.Warn("recovery of pulls that were cut short", "err", err) // those it could read are recovered
	}
	return nil
}

// byName returns the IDs of images by every name that they have.
func byName(images []*runtimeapi.Image) map[string]string {
	ids := map[string]string{}
	for _, i := range images {
		for _, names := range [][]string{i.GetRepoTags(), i.GetRepoDigests()} {
			for _, name := range names {
				ids[canonical(name)] = i.GetId()
			}
		}
	}
	return ids
}

// canonical returns one form for all ways to write an image: with its registry, and
// with its digest or else its tag.
func canonical(image string) string {
	parsed, err := credprovider.ParseImage(image)
	switch {
	case err != nil:
		return image
	case parsed.Digest != "":
		return parsed.Repository + "@" + parsed.Digest
	case parsed.Tag == "":
		return parsed.Repository + ":latest"
	}
	return parsed.Repository + ":" + parsed.Tag
}
