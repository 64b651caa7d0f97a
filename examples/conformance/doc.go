// Package conformance holds the tests of the conformance suite: the reference runtime and a real containerd pass it,
// and runtimes with one promise broken each fail the case that is about it.
package conformance
