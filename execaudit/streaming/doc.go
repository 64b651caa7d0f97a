// Package streaming carries an exec session's environment from the CRI's Exec
// call to the stream that the client then opens. k8s.io/cri-streaming hands its
// backend a container ID and a command but no request, and its server serves no
// handler but its own. But it never looks at the container ID. So the
// environment travels in it:
//
//	packed, err := streaming.Pack(req)                   // in Exec
//	return streamServer.GetExec(packed)
//
//	id, environ, err := streaming.Unpack(containerID)    // in the backend's Exec
//
// Where the process spec travels as JSON, which is UTF-8, PackJSON is the one to
// call.
//
// Nothing is kept here between the two, and nothing depends on a context. The
// streaming server's token, single use and one minute, is the session's. Pack
// must come before every GetExec, also without an environment: Unpack refuses
// what was not packed, so that no session ever loses its audit ID silently.
// Attach and port-forward are not concerned.
package streaming
