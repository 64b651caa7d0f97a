// Package runtimetest is the client side of tests against any CRI runtime: pods, containers and exec sessions in as few
// words as a test needs. It knows nothing of our own runtime.
package runtimetest
