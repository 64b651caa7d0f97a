// Package runtimetools holds only tests: it compares the envprecedence module with runtime-tools v0.9.0, which CRI
// runtimes build process environments with. It is a module of its own because that version does not build with the
// runtime-spec that containerd needs.
package runtimetools
