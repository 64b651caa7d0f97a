package admission

import "context"

// Lookup finds out what is known of a pod and its node. It is called by many goroutines at once, returns by the context's
// deadline, and says in [Known.Problem] what it could not find out.
type Lookup interface {
	// Find looks for the pod; the container is the one that the request names, empty for none.
	Find(ctx context.Context, namespace, pod, container string) Known
}
