// Package groups sets supgroups beside the code that container runtimes use today for the same question: moby/sys/user
// (CRI-O and others) and containerd's oci.WithUser, WithUsername and WithAdditionalGIDs.
//
// The ordinary tests are differential: the answers agree on generated files and requests, except for the differences that
// the tests name, each with its reason. The benchmarks run all contenders and a floor in one go.
package groups
