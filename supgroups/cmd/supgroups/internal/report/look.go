package report

import (
	"cmp"
	"slices"

	"github.com/lanyard-dev/lanyard/supgroups"
	"github.com/lanyard-dev/lanyard/supgroups/cmd/supgroups/internal/source"
)

// look returns the groups of a container that nobody asked for: those that its image gives under the pod's policy, and
// those that its status shows. Without an image only the status counts, and the error is returned with the finding.
func (c *Container) look(image *source.Image, err error) (Finding, error) {
	f := Finding{
		Namespace: c.Namespace, Pod: c.Pod, Container: c.container.Name, Image: c.SpecImage, Policy: c.policy(),
	}
	if err == nil {
		var e Explanation
		if e, err = Explain(c.spec, &c.container, image); err == nil && e.Policy != supgroups.PolicyStrict.String() {
			f.predict(e)
		}
	}
	f.observe(c)
	slices.SortFunc(f.Groups, func(a, b Unasked) int { return cmp.Compare(a.ID, b.ID) })
	return f, err
}

func (f *Finding) predict(e Explanation) {
	for _, g := range e.Groups {
		if !g.Strict {
			f.Groups = append(f.Groups, Unasked{ID: int64(g.ID), ImageName: g.ImageName, Predicted: true})
		}
	}
}

func (f *Finding) observe(c *Container) {
	if c.user == nil {
		return
	}
	asked := append(c.asked(), c.user.GID)
	for _, gid := range c.user.SupplementalGroups {
		if slices.Contains(asked, gid) {
			continue
		}
		i := slices.IndexFunc(f.Groups, func(g Unasked) bool { return g.ID == gid })
		if i < 0 {
			i = len(f.Groups)
			f.Groups = append(f.Groups, Unasked{ID: gid})
		}
		f.Groups[i].Observed = true
	}
}

func (c *Container) policy() string {
	if sc := c.spec.SecurityContext; sc != nil && sc.SupplementalGroupsPolicy != nil {
		return string(*sc.SupplementalGroupsPolicy)
	}
	return "(unset)"
}
