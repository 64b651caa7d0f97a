// Package containerdrig runs a real containerd of the pinned version on private directories and a private socket, for
// tests that want a second opinion and for the demo. It needs root, and the programs that `make parts` builds.
package containerdrig
