// Package apiserver is the API server's part of KEP-6035: it reads, drops or
// validates PodExecOptions.Env, puts it and the audit ID into the kubelet's
// URL, and closes the ways around validation.
//
//	envs, faults := exec.Decode(r.URL.RawQuery)       // from the client
//	envs, faults = exec.Validate(envs)                // after mutating admission
//	location, result, err := exec.Inject(kubeletURL, envs, auditID)
//
// WithAuditIDCheck goes in front of the audit filter, WithProxyCheck in front of
// nodes/proxy.
package apiserver
