package access

import (
	"slices"
	"strings"

	"k8s.io/apiserver/pkg/authentication/user"
)

const nodePrefix = "system:node:"

// NodeName returns the node that a user is, "" for a user that is none: one that lacks the name's form or the group.
func NodeName(u user.Info) string {
	if u == nil || !slices.Contains(u.GetGroups(), user.NodesGroup) {
		return ""
	}
	name, ok := strings.CutPrefix(u.GetName(), nodePrefix)
	if !ok {
		return ""
	}
	return name
}
