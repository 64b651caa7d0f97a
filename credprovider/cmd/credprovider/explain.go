package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	"github.com/lanyard-dev/lanyard/credprovider"
	"github.com/lanyard-dev/lanyard/credprovider/configfile"
	"github.com/lanyard-dev/lanyard/credprovider/explain"
	"github.com/lanyard-dev/lanyard/credprovider/provider"
)

// explainFlags are the flags of explain.
type explainFlags struct {
	config, image, pod, account, binDir string
	tokens, asJSON                      bool
}

func explainCommand() *cobra.Command {
	var f explainFlags
	cmd := &cobra.Command{
		Use:   "explain --config PATH (--image IMAGE | --pod FILE)",
		Short: "Say of each provider whether it would be run for an image, and what stops it",
		Args:  cobra.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return f.run(cmd) },
	}
	cmd.Flags().StringVar(&f.config, "config", "", "the configuration file or directory")
	cmd.Flags().StringVar(&f.image, "image", "", "the image; empty is every image of the pod")
	cmd.Flags().StringVar(&f.pod, "pod", "", "a file with the pod, YAML or JSON")
	cmd.Flags().StringVar(&f.account, "service-account", "", "a file with the pod's service account, YAML or JSON")
	cmd.Flags().StringVar(&f.binDir, "bin-dir", "", "the plugin directory")
	cmd.Flags().BoolVar(&f.tokens, "service-account-tokens", true, "the gate KubeletServiceAccountTokenForCredentialProviders")
	cmd.Flags().BoolVar(&f.asJSON, "json", false, "print JSON, one report a line")
	cmd.MarkFlagsOneRequired("image", "pod")
	if err := cmd.MarkFlagRequired("config"); err != nil {
		panic(err) // the flag is defined above
	}
	return cmd
}

func (f explainFlags) run(cmd *cobra.Command) error {
	question, images, err := f.question()
	if err != nil {
		return err
	}
	found := false
	for _, image := range images {
		question.Image = image
		report := explain.Explain(cmd.Context(), question)
		if err := f.print(cmd, report); err != nil {
			return err
		}
		found = found || !report.Runs()
	}
	if found {
		return errFound
	}
	return nil
}

func (f explainFlags) print(cmd *cobra.Command, report explain.Report) error {
	if f.asJSON {
		return printJSON(cmd.OutOrStdout(), report, "")
	}
	printLines(cmd.OutOrStdout(), linesOf(report)...)
	return nil
}

// question returns what to explain, and of which images.
func (f explainFlags) question() (explain.Question, []string, error) {
	loaded, err := configfile.Load(f.config)
	if err != nil {
		return explain.Question{}, nil, err
	}
	q := explain.Question{Config: loaded.Config, Gates: credprovider.Gates{KubeletServiceAccountTokenForCredentialProviders: f.tokens}, BinDir: f.binDir}
	images := []string{f.image}
	if f.pod != "" {
		var pod corev1.Pod
		if err := readObject(f.pod, "Pod", &pod); err != nil {
			return q, nil, err
		}
		q.Pod = podOf(pod)
		if f.image == "" {
			images = imagesOf(pod)
		}
		if len(images) == 0 {
			return q, nil, fmt.Errorf("%s: the pod has no images", f.pod)
		}
	}
	if f.account != "" {
		var account corev1.ServiceAccount
		if err := readObject(f.account, "ServiceAccount", &account); err != nil {
			return q, nil, err
		}
		if account.Name == "" {
			return q, nil, fmt.Errorf("%s: the service account has no name", f.account)
		}
		q.Account = &credprovider.ServiceAccount{Namespace: orDefault(account.Namespace), Name: account.Name, UID: string(account.UID), Annotations: account.Annotations}
		if f.pod == "" {
			q.Pod = provider.Pod{Namespace: q.Account.Namespace, ServiceAccount: account.Name}
		}
	}
	return q, images, nil
}

// podOf gives a pod that names no service account the one that the API server would.
func podOf(pod corev1.Pod) provider.Pod {
	name := pod.Spec.ServiceAccountName
	if name == "" {
		name = "default"
	}
	return provider.Pod{Namespace: orDefault(pod.Namespace), Name: pod.Name, UID: string(pod.UID), ServiceAccount: name}
}

func orDefault(namespace string) string {
	if namespace == "" {
		return "default"
	}
	return namespace
}

// imagesOf returns all images that are pulled for a pod, each once: those of its containers by kind, then its volumes'.
func imagesOf(pod corev1.Pod) []string {
	var images []string
	seen := map[string]bool{}
	add := func(image string) {
		if !seen[image] {
			seen[image], images = true, append(images, image)
		}
	}
	for _, c := range pod.Spec.InitContainers {
		add(c.Image)
	}
	for _, c := range pod.Spec.Containers {
		add(c.Image)
	}
	for _, c := range pod.Spec.EphemeralContainers {
		add(c.Image)
	}
	for _, v := range pod.Spec.Volumes {
		if v.Image != nil {
			add(v.Image.Reference)
		}
	}
	return images
}

// readObject reads one object of the kind, or one that names none.
func readObject(path, kind string, into any) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	var header struct {
		Kind string `json:"kind"`
	}
	if err := yaml.Unmarshal(data, &header); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	if header.Kind != "" && header.Kind != kind {
		return fmt.Errorf("%s: kind is %q, want %s", path, header.Kind, kind)
	}
	if err := yaml.Unmarshal(data, into); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}
