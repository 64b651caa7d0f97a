// Package cri is the runtime's edge of supgroups: CRI messages in, OCI and CRI messages out.
//
//	request, err := cri.ContainerRequest(config.GetLinux().GetSecurityContext(), imageUser)
//	…
//	who, err := root.Resolve(request)
//	…
//	spec.Process.User = cri.ProcessUser(who)    // for the OCI runtime
//	status.User = cri.StatusUser(spec.Process)  // for the kubelet, later
//
// The numbers in a status are those of the OCI specification: inside a user namespace, and as the process starts. A
// process that may change its groups can have others a moment later.
package cri
