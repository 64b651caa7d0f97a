package rbac

// Request is one question: may this user do this?
//
// The zero value of NonResource makes it a question about a resource, so that a request whose Resource was left empty
// is never matched against nonResourceURLs.
type Request struct {
	// User is the user's name, as authentication gave it.
	User string
	// Groups are the user's groups, in any order.
	Groups []string
	// Verb is compared byte for byte: "get" and "GET" differ. An empty verb is matched by the verb "*" alone.
	Verb string
	// APIGroup is empty for the core group.
	APIGroup string
	// Resource is the plural, lower-case resource, such as "nodes".
	Resource string
	// Subresource is empty for the resource itself.
	Subresource string
	// Namespace is empty for cluster-scoped requests; then only ClusterRoleBindings count.
	Namespace string
	// Name is empty for list, watch and create; then rules with resourceNames do not match.
	Name string
	// NonResource makes it a question about Path; Resource and the fields that describe it are then ignored.
	NonResource bool
	// Path is the URL path of a non-resource request, such as "/healthz".
	Path string
}

// resource is the form that rules write: "nodes" or "nodes/proxy".
func (r Request) resource() string {
	if r.Subresource == "" {
		return r.Resource
	}
	return r.Resource + "/" + r.Subresource
}
