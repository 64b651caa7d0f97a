package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"

	"github.com/lanyard-dev/lanyard/supgroups/cmd/supgroups/internal/podlist"
	"github.com/lanyard-dev/lanyard/supgroups/cmd/supgroups/internal/report"
	"github.com/lanyard-dev/lanyard/supgroups/cmd/supgroups/internal/source"
)

var (
	errNoContainer = errors.New("no such container")
	errNoPod       = errors.New("--pod is required")
)

type explainFlags struct {
	*output
	image, pod, container string
}

func newExplain(o *output) *cobra.Command {
	f := explainFlags{output: o}
	cmd := &cobra.Command{
		Use:   "explain --image ARCHIVE|LAYOUT|REF --pod pod.yaml",
		Short: "Print uid, gid and every group of a pod's containers with its origin, under both policies",
		Long: `Print uid, gid and every group with its origin, under Merge and under Strict, side by side.

The image is a docker archive (a file), an OCI layout (a directory) or a reference to a registry. Of its layers only
/etc/passwd, /etc/group and what links to them are read.

Exit code: 0 when every container could be explained, 2 otherwise.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return f.run(cmd.Context()) },
	}
	cmd.Flags().StringVar(&f.image, "image", "", "image to explain; without it, each container's own")
	cmd.Flags().StringVar(&f.pod, "pod", "", `pod manifest, YAML or JSON; "-" is standard input (required)`)
	cmd.Flags().StringVar(&f.container, "container", "", "only this container")
	return cmd
}

func (f *explainFlags) run(ctx context.Context) error {
	if f.pod == "" {
		return errNoPod
	}
	pod, err := f.readPod()
	if err != nil {
		return fmt.Errorf("pod: %w", err)
	}
	platform, err := f.parsePlatform()
	if err != nil {
		return err
	}
	explanations := []report.Explanation{}
	for _, c := range f.containers(pod) {
		where := f.image
		if where == "" {
			where = c.Image
		}
		image, err := source.Open(ctx, where, platform)
		if err != nil {
			return fmt.Errorf("image %q: %w", where, err)
		}
		e, err := report.Explain(&pod.Spec, &c, image)
		if err != nil {
			return fmt.Errorf("container %q: %w", c.Name, err)
		}
		explanations = append(explanations, e)
	}
	if len(explanations) == 0 {
		return fmt.Errorf("%w: %q", errNoContainer, f.container)
	}
	return f.print(explanations, func(w io.Writer) error {
		for i, e := range explanations {
			if i > 0 {
				fmt.Fprintln(w)
			}
			if err := report.PrintExplanation(w, e); err != nil {
				return err
			}
		}
		return nil
	})
}

func (f *explainFlags) readPod() (*corev1.Pod, error) {
	r, err := f.openInput(f.pod)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return podlist.One(r)
}

// containers returns the pod's containers that are asked for, init containers first.
func (f *explainFlags) containers(pod *corev1.Pod) []corev1.Container {
	var out []corev1.Container
	for _, list := range [][]corev1.Container{pod.Spec.InitContainers, pod.Spec.Containers} {
		for _, c := range list {
			if f.container == "" || f.container == c.Name {
				out = append(out, c)
			}
		}
	}
	return out
}
