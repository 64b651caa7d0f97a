package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"

	"github.com/lanyard-dev/lanyard/supgroups/cmd/supgroups/internal/podlist"
	"github.com/lanyard-dev/lanyard/supgroups/cmd/supgroups/internal/report"
	"github.com/lanyard-dev/lanyard/supgroups/cmd/supgroups/internal/source"
)

var (
	errNoContainer  = errors.New("no such container")
	errNoContainers = errors.New("the pod has no containers")
	errNoPod        = errors.New("--pod is required")
)

type explainFlags struct {
	*output
	image, pod, container string
}

func newExplain(o *output) *cobra.Command {
	f := explainFlags{output: o}
	cmd := &cobra.Command{
		Use:   "explain --image ./ARCHIVE|./LAYOUT|REF --pod pod.yaml",
		Short: "Print uid, gid and every group of a pod's containers with its origin, under both policies",
		Long: `Print uid, gid and every group with its origin, under Merge and under Strict, side by side.

--image is local when it begins with "/", "./" or "../": a docker archive (a file) or an OCI layout (a directory).
Otherwise it is a reference to a registry, and so are the images that pods name, always. Of the layers only /etc/passwd,
/etc/group and what links to them are read.

The manifest holds one pod or several, as YAML documents, JSON values or lists. Every pod is explained; what cannot be is
named on standard error by its place; the others are explained nevertheless.

Exit code: 0 when every container could be explained, 2 otherwise.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return f.run(cmd.Context()) },
	}
	cmd.Flags().StringVar(&f.image, "image", "", "image to explain; without it, each container's own")
	cmd.Flags().StringVar(&f.pod, "pod", "", `manifest of one pod or more, YAML or JSON; "-" is standard input (required)`)
	cmd.Flags().StringVar(&f.container, "container", "", "only this container")
	return cmd
}

func (f *explainFlags) run(ctx context.Context) error {
	if f.pod == "" {
		return errNoPod
	}
	if err := f.checkFormat(); err != nil {
		return err
	}
	platform, err := f.parsePlatform()
	if err != nil {
		return err
	}
	items, err := f.readPods()
	if err != nil {
		return fmt.Errorf("pod: %w", err)
	}
	explanations, refused := f.explain(ctx, items, platform)
	if err := ctx.Err(); err != nil {
		return err
	}
	if len(explanations) > 0 {
		err := f.print(explanations, func(w io.Writer) error {
			return report.PrintExplanations(w, explanations, len(items) > 1)
		})
		if err != nil {
			return err
		}
	}
	if len(refused) > 0 {
		return refused
	}
	if len(explanations) == 0 {
		return fmt.Errorf("%w: %q", errNoContainer, f.container)
	}
	return nil
}

func (f *explainFlags) readPods() ([]podlist.Item, error) {
	r, err := f.openInput(f.pod)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return podlist.Manifest(r)
}

// explain explains every container of every pod that it can, and says of the others why not.
func (f *explainFlags) explain(
	ctx context.Context, items []podlist.Item, platform v1.Platform,
) (out []report.Explanation, refused faults) {
	for _, item := range items {
		if item.Err != nil {
			refused.add(item.Place, item.Err)
			continue
		}
		containers := f.containers(item.Pod)
		if len(containers) == 0 && f.container == "" {
			refused.add(item.Place, errNoContainers)
		}
		for _, c := range containers {
			e, err := f.explainOne(ctx, item.Pod, &c, platform)
			if err != nil {
				refused.add(fmt.Sprintf("%s: container %q", item.Place, c.Name), err)
				continue
			}
			e.Place, e.Namespace, e.Pod = item.Place, item.Pod.Namespace, item.Pod.Name
			out = append(out, e)
		}
	}
	return out, refused
}

func (f *explainFlags) explainOne(ctx context.Context, pod *corev1.Pod, c *corev1.Container, p v1.Platform) (report.Explanation, error) {
	where := source.Reference(c.Image)
	if f.image != "" {
		where = source.Given(f.image)
	}
	image, err := source.Open(ctx, where, p)
	if err != nil {
		return report.Explanation{}, fmt.Errorf("image %q: %w", where, err)
	}
	return report.Explain(&pod.Spec, c, image)
}

// containers returns the pod's containers that are asked for: init containers first, ephemeral ones last.
func (f *explainFlags) containers(pod *corev1.Pod) []corev1.Container {
	all := slices.Concat(pod.Spec.InitContainers, pod.Spec.Containers)
	for _, c := range pod.Spec.EphemeralContainers {
		all = append(all, corev1.Container(c.EphemeralContainerCommon))
	}
	return slices.DeleteFunc(all, func(c corev1.Container) bool { return f.container != "" && f.container != c.Name })
}
