// Package apiserver is the API server's part of KEP-6035: it reads, drops or
// validates PodExecOptions.Env, puts it and the audit ID into the kubelet's
// URL, and closes the ways around validation.
//
//	envs, err := exec.Decode(r.URL.RawQuery)          // from the client
//	envs, err = exec.Validate(envs)                   // after mutating admission
//	location, result, err := exec.Inject(kubeletURL, envs, auditID)
//
// Errors are execaudit.Faults; ErrorList turns them into what apimachinery's answers are
// made of. WithAuditIDCheck goes in front of the audit filter. InjectProxied is all three
// calls for nodes/proxy.
package apiserver
