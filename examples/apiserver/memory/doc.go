// Package memory keeps API objects in memory behind k8s.io/apiserver's storage.Interface.
//
// It takes the place of etcd and of the watch cache: revisions that grow over all resources, lists and watches by label
// and field, initial events, bookmarks, a bounded history and objects that expire. A [Backend] outlives the servers
// that use it, as etcd outlives API servers; nothing outlives the process.
package memory
