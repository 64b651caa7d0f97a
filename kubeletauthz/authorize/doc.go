// Package authorize decides kubelet requests by asking SubjectAccessReviews.
//
//	reviewer := &authorize.Client{HTTP: httpClient, Server: "https://api:6443"}
//	authorizer := authorize.New(authorize.NewCache(reviewer, authorize.CacheOptions{}), authorize.Options{})
//	verdict, err := authorizer.Authorize(ctx, user, mapper.Map(method, path, rawPath))
//
// An [Authorizer] asks a [Reviewer] about the attributes of a request, one after the other: the first that is allowed
// allows the request, an error ends it, and when all were asked in vain it is refused. A [Cache] is a Reviewer around
// another one: it remembers answers for a while and asks equal concurrent questions once. A [Client] is a Reviewer over
// HTTP without client-go. A failure never allows anything.
//
// An answer is as fresh as the cache's times allow: a revoked permission works for up to AllowTTL (five minutes unless
// configured), a new one may be refused for up to DenyTTL (thirty seconds), as with the kubelet itself.
//
// Errors can be logged: what a server answered and what a Reviewer panicked with are redacted.
//
// Source: KEP-2862, Design Details.
package authorize
