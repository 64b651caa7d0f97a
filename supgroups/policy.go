package supgroups

import "fmt"

// Policy says whether group memberships written in the image count. The zero value is Merge, the API's default.
//
// Source: KEP-3619, SupplementalGroupsPolicy in PodSecurityContext.
type Policy uint8

const (
	// Merge adds the memberships of the primary user in the image's /etc/group to the groups that were asked for.
	Merge Policy = iota
	// Strict ignores the image's /etc/group. The primary group can still come from the image's /etc/passwd, unless the
	// request names one.
	Strict
)

// ParsePolicy reads the value of supplementalGroupsPolicy in a pod: "Merge", "Strict", or "" for Merge. The comparison is
// case-sensitive. Any other text is ErrUnknownPolicy.
func ParsePolicy(s string) (Policy, error) {
	switch s {
	case "", "Merge":
		return Merge, nil
	case "Strict":
		return Strict, nil
	}
	return Merge, fmt.Errorf("%w: %q is neither \"Merge\" nor \"Strict\"", ErrUnknownPolicy, s)
}

// String returns the API's spelling, or Policy(n) for a value that is neither.
func (p Policy) String() string {
	switch p {
	case Merge:
		return "Merge"
	case Strict:
		return "Strict"
	}
	return fmt.Sprintf("Policy(%d)", uint8(p))
}
