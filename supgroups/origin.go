package supgroups

import (
	"fmt"
	"strings"
)

// Origin is the set of reasons why a process is in a group.
type Origin uint8

const (
	// OriginPrimary means that it is the primary group, which is always among the supplementary ones.
	OriginPrimary Origin = 1 << iota
	// OriginRequested means that the request's SupplementalGroups names it.
	OriginRequested
	// OriginFSGroup means that it is the request's FSGroup.
	OriginFSGroup
	// OriginImage means that the image's group file lists the primary user as a member.
	OriginImage
)

var originNames = [...]string{"primary group", "requested", "fsGroup", "image group"}

// Has reports whether o contains every reason in x.
func (o Origin) Has(x Origin) bool { return o&x == x }

// String lists the reasons in a fixed order, such as "primary group, image group"; "" for none.
func (o Origin) String() string {
	var names []string
	for i, name := range originNames {
		if o.Has(1 << i) {
			names = append(names, name)
		}
	}
	return strings.Join(names, ", ")
}

// Source says who chose the primary user or the primary group.
type Source uint8

const (
	// SourceRuntimeDefault means nobody: the runtime starts as root, and a user without a passwd row gets group 0.
	SourceRuntimeDefault Source = iota
	// SourceRunAsUsername means the request's RunAsUsername.
	SourceRunAsUsername
	// SourceRunAsUser means the request's RunAsUser.
	SourceRunAsUser
	// SourceRunAsGroup means the request's RunAsGroup.
	SourceRunAsGroup
	// SourceImageUser means the user string of the image's configuration.
	SourceImageUser
	// SourcePasswd means the user's row in the image's passwd file. An image can choose any primary group this way,
	// even under PolicyStrict.
	SourcePasswd
)

var sourceNames = [...]string{"runtime default", "runAsUsername", "runAsUser", "runAsGroup", "image user", "image passwd"}

// FromImage reports whether the image chose.
func (s Source) FromImage() bool { return s == SourceImageUser || s == SourcePasswd }

// String returns a short name, such as "runAsUser" or "image passwd".
func (s Source) String() string {
	if int(s) < len(sourceNames) {
		return sourceNames[s]
	}
	return fmt.Sprintf("Source(%d)", uint8(s))
}
