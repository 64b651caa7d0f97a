// Package tokens issues, serves and checks service account tokens: signed JWTs bound to audiences, a time, and usually
// a pod, with the key set and the OpenID discovery document by which others check them.
package tokens
