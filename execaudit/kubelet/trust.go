package kubelet

import "slices"

// Identity is who sent a request, as the kubelet authenticated it.
type Identity struct {
	// Name is the user name.
	Name string
	// Groups are the user's groups, in any order.
	Groups []string
}

// Trust lists the identities that may send reserved names: the API server's
// client identity, such as kube-apiserver-kubelet-client. The zero value trusts
// nobody.
//
// Do not list system:masters or another group that people are in: an
// administrator's certificate would then forge audit IDs.
type Trust struct {
	// Names are user names, compared exactly. The empty name is never trusted.
	Names []string
	// Groups are group names, compared exactly.
	Groups []string
}

// Trusts reports whether id is listed by name or by one of its groups.
func (t Trust) Trusts(id Identity) bool {
	if id.Name != "" && slices.Contains(t.Names, id.Name) {
		return true
	}
	return slices.ContainsFunc(id.Groups, func(group string) bool {
		return group != "" && slices.Contains(t.Groups, group)
	})
}
