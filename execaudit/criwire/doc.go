// Package criwire writes and reads the environment of a CRI ExecRequest: field
// 7, repeated KeyValue, as KEP-6035 defines it, over a k8s.io/cri-api that does
// not have the field yet.
//
//	err := criwire.Write(req, envs)   // kubelet, before the call
//	envs, err := criwire.Read(req)    // runtime, in Exec
//
// Today the field travels as unknown bytes, which protobuf carries through
// clone and re-marshal and which older peers ignore. The day cri-api has the
// field, the same two calls use the typed one. ExecSyncRequest and
// AttachRequest have no such call: the KEP leaves them out.
package criwire
