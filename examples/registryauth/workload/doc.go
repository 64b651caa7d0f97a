// Package workload tells whose a service account token is, as a stranger to the
// cluster would: from the OpenID discovery document of its issuer alone.
package workload
