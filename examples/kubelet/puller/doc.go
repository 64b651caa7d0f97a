// Package puller brings the images of containers to the node as the workload: with
// the credentials that plugins give for the image and the pod's service account
// (KEP-4412), and with records of who pulled what, so that no pod uses an image that
// it could not have pulled itself (KEP-2535).
//
// The decisions are credprovider's. This package asks the API server for accounts
// and tokens with the node's identity, the runtime for images, and says what went
// wrong in events on the pod.
package puller
