package supgroups

import (
	"fmt"
	"slices"
)

// MaxGroups is the most groups a process can be in: NGROUPS_MAX on Linux. Beyond it the kernel refuses setgroups.
const MaxGroups = 65536

// Group is one supplementary group of a process, with the reasons for it.
type Group struct {
	// ID is the group's ID.
	ID uint32
	// Origin is never empty in a result.
	Origin Origin
	// ImageName is the name of the first row of the image's group file that lists the user under this ID; "" without
	// OriginImage. The image wrote it: it is untrusted text of at most MaxNameBytes bytes.
	ImageName string
}

// String returns the ID and the reasons: 50000 (image group "staff").
func (g Group) String() string {
	if g.Origin.Has(OriginImage) {
		return fmt.Sprintf("%d (%s %q)", g.ID, g.Origin, g.ImageName)
	}
	return fmt.Sprintf("%d (%s)", g.ID, g.Origin)
}

// Identity is what the first process of a container starts as.
type Identity struct {
	// UID and GID are the primary user and group.
	UID, GID uint32
	// Username is the user's name, from the request or the first passwd row with the UID. It is "" when there is none
	// or when nothing depended on it. Like Group.ImageName it can be the image's text: untrusted.
	Username string
	// UserFrom and GroupFrom say who chose UID and GID.
	UserFrom, GroupFrom Source
	// Groups are ascending by ID, each ID once, GID always among them.
	Groups []Group
	// Passwd and Group are the rows skipped in the two files, up to where reading stopped.
	Passwd, Group Skipped
}

// GIDs returns the supplementary group IDs, ascending, in a new slice that is never empty for a resolved Identity.
func (id Identity) GIDs() []uint32 {
	gids := make([]uint32, len(id.Groups))
	for i, g := range id.Groups {
		gids[i] = g.ID
	}
	return gids
}

// Unasked returns the groups that come from the image's group file alone, ascending: those that PolicyStrict takes
// away. It is nil when there are none.
func (id Identity) Unasked() []Group {
	var out []Group
	for _, g := range id.Groups {
		if g.Origin == OriginImage {
			out = append(out, g)
		}
	}
	return out
}

// Under returns the identity of the same process under policy p, given one resolved under PolicyMerge. The result does
// not share Groups with id. Under(PolicyMerge) is a copy.
func (id Identity) Under(p Policy) Identity {
	groups := slices.Clone(id.Groups)
	if p == PolicyStrict {
		groups = groups[:0]
		for _, g := range id.Groups {
			if g.Origin &^= OriginImage; g.Origin != 0 {
				groups = append(groups, Group{ID: g.ID, Origin: g.Origin})
			}
		}
	}
	id.Groups = groups
	return id
}
