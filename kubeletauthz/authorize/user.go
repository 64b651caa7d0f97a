package authorize

import authorizationv1 "k8s.io/api/authorization/v1"

// User is the author of a request, as established by authentication.
type User struct {
	// Name is the user's name.
	Name string
	// UID is the user's unique ID; it may be empty.
	UID string
	// Groups are the user's groups, in the order authentication gave them.
	Groups []string
	// Extra is what else authentication knows, such as a service account token's pod.
	Extra map[string]authorizationv1.ExtraValue
}
