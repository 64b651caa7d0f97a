// Package streaming carries an exec session's environment from the CRI's Exec
// call to the stream that the client then opens. k8s.io/cri-streaming hands its
// Runtime a container and a command but no request; what the two calls share is
// the token in the URL. So the environment waits under that token:
//
//	sessions := streaming.New(streaming.Options{})
//	http.Serve(listener, sessions.Handler(streamingServer))   // once
//
//	resp, err := streamingServer.GetExec(req)                 // in Exec
//	err = sessions.Put(resp.Url, envs)
//
//	envs, ok := streaming.FromContext(ctx)                    // in Runtime.Exec
//
// Put must follow every GetExec, also without an environment: an exec stream whose
// token is not known here is refused, so that no session ever loses its audit ID
// silently. Attach and port-forward streams pass untouched.
package streaming
