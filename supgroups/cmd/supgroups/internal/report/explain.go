// Package report works out what the tool prints: the identity of each container under both policies, and the containers
// whose processes hold groups that nobody asked for.
package report

import (
	"fmt"
	"io"
	"text/tabwriter"

	corev1 "k8s.io/api/core/v1"

	"github.com/lanyard-dev/lanyard/supgroups"
	"github.com/lanyard-dev/lanyard/supgroups/cmd/supgroups/internal/source"
	"github.com/lanyard-dev/lanyard/supgroups/kubelet"
	"github.com/lanyard-dev/lanyard/supgroups/rootfs"
)

// Group is one group of a container's process, under both policies.
type Group struct {
	ID     uint32 `json:"id"`
	Merge  bool   `json:"merge"`
	Strict bool   `json:"strict"`
	Origin string `json:"origin"`
	// ImageName is the group's name in the image, untrusted.
	ImageName string `json:"imageName,omitempty"`
}

// Explanation is what one container's first process starts as.
type Explanation struct {
	// Place, Namespace and Pod tell where the container is from, when the caller sets them: the place in the manifest,
	// as in "document 2", and the pod's name.
	Place     string `json:"place,omitempty"`
	Namespace string `json:"namespace,omitempty"`
	Pod       string `json:"pod,omitempty"`
	Container string `json:"container"`
	ImageUser string `json:"imageUser"`
	Policy    string `json:"policy"` // the pod's
	UID       uint32 `json:"uid"`
	UIDFrom   string `json:"uidFrom"`
	GID       uint32 `json:"gid"`
	GIDFrom   string `json:"gidFrom"`
	Username  string `json:"username,omitempty"`
	// Groups are ascending.
	Groups []Group `json:"groups"`
	// Malformed is about the image's files as a whole.
	Malformed Malformed `json:"malformed"`
}

// Explain resolves one container of a pod over an image. Its errors are those of kubelet.Request and
// rootfs.Root.Resolve.
func Explain(spec *corev1.PodSpec, container *corev1.Container, image *source.Image) (Explanation, error) {
	req, err := kubelet.Request(spec, container, image.User)
	if err != nil {
		return Explanation{}, err
	}
	policy := req.Policy
	req.Policy = supgroups.PolicyMerge
	root := rootfs.New(image.Files)
	who, err := root.Resolve(req)
	if err != nil {
		return Explanation{}, err
	}
	e := Explanation{
		Container: container.Name, ImageUser: image.User, Policy: policy.String(),
		UID: who.UID, UIDFrom: userFrom(who, image.User, container, spec), GID: who.GID, GIDFrom: who.GroupFrom.String(),
		Username: who.Username,
	}
	if e.Malformed, err = checkFiles(root); err != nil {
		return Explanation{}, err
	}
	for _, g := range who.Groups {
		e.Groups = append(e.Groups, Group{
			ID: g.ID, Merge: true, Strict: g.Origin != supgroups.OriginImage, Origin: g.Origin.String(), ImageName: g.ImageName,
		})
	}
	return e, nil
}

// userFrom tells the user that a pod asks for from what the kubelet fills in for want of one: the image's, or root.
func userFrom(who supgroups.Identity, imageUser string, container *corev1.Container, spec *corev1.PodSpec) string {
	switch {
	case container.SecurityContext != nil && container.SecurityContext.RunAsUser != nil,
		spec.SecurityContext != nil && spec.SecurityContext.RunAsUser != nil:
		return who.UserFrom.String()
	case imageUser == "":
		return supgroups.SourceRuntimeDefault.String()
	}
	return supgroups.SourceImageUser.String()
}

// PrintExplanations writes explanations as text for people, under the pod's name and place when there are several pods.
func PrintExplanations(w io.Writer, explanations []Explanation, several bool) error {
	for i, e := range explanations {
		if i > 0 {
			fmt.Fprintln(w)
		}
		if several && (i == 0 || e.Place != explanations[i-1].Place) {
			fmt.Fprintf(w, "pod %s, %s\n", podName(e), e.Place)
		}
		if err := PrintExplanation(w, e); err != nil {
			return err
		}
	}
	return nil
}

func podName(e Explanation) string {
	switch {
	case e.Pod == "":
		return "without a name"
	case e.Namespace == "":
		return Plain(e.Pod)
	}
	return Plain(e.Namespace) + "/" + Plain(e.Pod)
}

// PrintExplanation writes e as text for people.
func PrintExplanation(w io.Writer, e Explanation) error {
	fmt.Fprintf(w, "container %s, policy %s, image user %q\n", Plain(e.Container), e.Policy, e.ImageUser)
	fmt.Fprintf(w, "uid %d (%s)\ngid %d (%s)\n", e.UID, e.UIDFrom, e.GID, e.GIDFrom)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "GROUP\tMERGE\tSTRICT\tORIGIN")
	for _, g := range e.Groups {
		fmt.Fprintf(t, "%d\t%s\t%s\t%s\n", g.ID, mark(g.Merge), mark(g.Strict), originText(g))
	}
	if err := t.Flush(); err != nil {
		return err
	}
	if e.Malformed.Rows > 0 {
		fmt.Fprintf(w, "malformed rows, never used: %d\n", e.Malformed.Rows)
	}
	for _, row := range e.Malformed.First {
		fmt.Fprintf(w, "  %s\n", row)
	}
	return nil
}

func mark(in bool) string {
	if in {
		return "yes"
	}
	return "-"
}

func originText(g Group) string {
	if g.ImageName == "" {
		return g.Origin
	}
	return fmt.Sprintf("%s %q", g.Origin, g.ImageName)
}
