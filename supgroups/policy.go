package supgroups

import "fmt"

// Policy says whether group memberships written in the image count. The zero value is PolicyMerge, the API's default.
//
// Source: KEP-3619, SupplementalGroupsPolicy in PodSecurityContext.
type Policy uint8

const (
	// PolicyMerge adds the memberships of the primary user in the image's /etc/group to the groups that were asked for.
	PolicyMerge Policy = iota
	// PolicyStrict ignores the image's /etc/group. The primary group can still come from the image's /etc/passwd,
	// unless the request names one.
	PolicyStrict
)

// ParsePolicy reads the value of supplementalGroupsPolicy in a pod: "Merge", "Strict", or "" for Merge. The comparison
// is case-sensitive. Any other text is ErrUnknownPolicy.
func ParsePolicy(s string) (Policy, error) {
	switch s {
	case "", "Merge":
		return PolicyMerge, nil
	case "Strict":
		return PolicyStrict, nil
	}
	return PolicyMerge, fmt.Errorf("%w: %q is neither \"Merge\" nor \"Strict\"", ErrUnknownPolicy, s)
}

// String returns the API's spelling, or Policy(n) for a value that is neither.
func (p Policy) String() string {
	switch p {
	case PolicyMerge:
		return "Merge"
	case PolicyStrict:
		return "Strict"
	}
	return fmt.Sprintf("Policy(%d)", uint8(p))
}
