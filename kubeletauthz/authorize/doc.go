// Package authorize decides kubelet requests by asking SubjectAccessReviews.
//
//	reviewer := &authorize.Client{HTTP: httpClient, Server: "https://api:6443"}
//	authorizer := authorize.New(authorize.NewCache(reviewer, authorize.CacheOptions{}), authorize.Options{})
//	verdict, err := authorizer.Authorize(ctx, user, mapper.Map(method, path, rawPath))
//
// An [Authorizer] asks the attributes of a request one after the other: the first that is allowed allows it, an error stops,
// and only when all were asked it is refused. What it asks is a [Reviewer]; [Cache] is one around another, which remembers
// answers for a while and asks equal concurrent questions once; [Client] is one over HTTP without client-go. Whatever goes
// wrong, nothing is allowed.
//
// An answer is as fresh as the cache's times allow: a revoked permission works for up to AllowTTL (five minutes unless
// configured), a new one may be refused for up to DenyTTL (thirty seconds), as with the kubelet itself.
//
// Source: KEP-2862, Design Details.
package authorize
