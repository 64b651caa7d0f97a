// Package transport logs in to a Kubernetes API server through credential plugins, for plain net/http.
//
// A [Pool] owns everything that is shared: one [Source] for each distinct configuration, the terminal, the policy, the
// metrics. A source runs its plugin when there is no usable credential, once for all who wait. [Source.RoundTripper]
// adds the credential to requests: a token as a header of a copy of the request, a certificate by way of a connection
// pool of its own, so that a connection made with a replaced certificate takes no new request while those in flight
// finish.
//
//	pool, err := transport.NewPool(transport.Options{})
//	client, err := pool.Client(*login.Exec, login.Cluster)
//
// A valid credential is read without a lock. Close the pool to end what it runs.
package transport
