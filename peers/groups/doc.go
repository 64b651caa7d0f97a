// Package groups sets supgroups beside the code that container runtimes use today for the same question: moby/sys/user
// (CRI-O and others) and containerd's oci.WithUser, WithUsername and WithAdditionalGIDs.
//
// containerd is built here with moby/sys/user v0.5.0, the newest; as released, v2.4.2 has v0.4.1.
//
// The ordinary tests are differential: the answers agree on generated files and requests, except for the differences
// that the tests name, each with its reason. The benchmarks run all contenders and a floor in one go.
package groups
