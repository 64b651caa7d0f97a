// Package containerd adds KEP-6035's exec environment to containerd, without a line of containerd in this repository: it
// reads the source of the pinned version from the module cache, finds the places by syntax tree and inserts calls of our
// modules there. Command integrate builds the result with the go command's -overlay:
//
//	cd peers/containerd && go run ./cmd/integrate -work ../../.build/containerd -output ../../.build/bin/containerd-envs
//
// Nothing of containerd is changed or removed, only lines are added; a source that does not have the expected shape is
// an error that names the file and the function.
package containerd

//go:generate go run ./cmd/integrate -table ../../docs/runtime-authors.md
