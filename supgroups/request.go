package supgroups

import (
	"fmt"
	"strconv"
)

// Request is what the pod, the kubelet and the image's configuration ask for. Its zero value asks for nothing: root,
// under PolicyMerge.
type Request struct {
	// Policy is PolicyMerge unless set.
	Policy Policy
	// RunAsUsername is the primary user's name, or an ID in decimal; it wins over RunAsUser. It never contains a group.
	RunAsUsername string
	// RunAsUser is the primary user's ID.
	RunAsUser *int64
	// RunAsGroup is the primary group. Without RunAsUser or RunAsUsername it is an error, as in CRI.
	RunAsGroup *int64
	// FSGroup is the group of the pod's volumes. CRI sends it as one of the SupplementalGroups; a caller that knows it
	// sets it here, so that its origin is reported.
	FSGroup *int64
	// SupplementalGroups are further groups, in any order; duplicates are harmless.
	SupplementalGroups []int64
	// ImageUser is config.User of the image, used only when no user is given above.
	ImageUser string
}

// principal is the primary user and group as asked for, before any file is read.
type principal struct {
	user, group         Ref
	userFrom, groupFrom Source
}

func (r *Request) principal() (principal, error) {
	p, err := r.user()
	if err != nil || r.RunAsGroup == nil {
		return p, err
	}
	gid, err := checkID("runAsGroup", *r.RunAsGroup)
	p.group, p.groupFrom = Ref{ID: gid, Numeric: true}, SourceRunAsGroup
	return p, err
}

func (r *Request) user() (principal, error) {
	p := principal{userFrom: SourceRuntimeDefault, user: Ref{Numeric: true}}
	if r.RunAsUser != nil {
		uid, err := checkID("runAsUser", *r.RunAsUser)
		if err != nil {
			return p, err
		}
		p.userFrom, p.user.ID = SourceRunAsUser, uid
	}
	switch {
	case r.RunAsUsername != "":
		name, err := parseRef("runAsUsername", r.RunAsUsername)
		return principal{userFrom: SourceRunAsUsername, user: name}, err
	case r.RunAsUser != nil:
		return p, nil
	case r.RunAsGroup != nil:
		return p, fmt.Errorf("%w: runAsGroup %d", ErrGroupWithoutUser, *r.RunAsGroup)
	case r.ImageUser != "":
		return imagePrincipal(r.ImageUser)
	}
	return p, nil
}

func imagePrincipal(s string) (principal, error) {
	u, err := ParseUserString(s)
	p := principal{user: u.User, group: u.Group, userFrom: SourceImageUser}
	if !u.Group.IsZero() {
		p.groupFrom = SourceImageUser
	}
	return p, err
}

// checkGroups checks the groups that the request names.
func (r *Request) checkGroups() error {
	for i, v := range r.SupplementalGroups {
		if _, ok := inRange(v); !ok {
			return &IDError{Field: fmt.Sprintf("supplementalGroups[%d]", i), Value: strconv.FormatInt(v, 10)}
		}
	}
	if r.FSGroup != nil {
		_, err := checkID("fsGroup", *r.FSGroup)
		return err
	}
	return nil
}

// appendGroups appends the groups that the request names, once they are checked.
func (r *Request) appendGroups(groups []Group) []Group {
	for _, v := range r.SupplementalGroups {
		groups = append(groups, Group{ID: uint32(v), Origin: OriginRequested})
	}
	if r.FSGroup != nil {
		groups = append(groups, Group{ID: uint32(*r.FSGroup), Origin: OriginFSGroup})
	}
	return groups
}
