//go:build !race

package runtime_test

const clientSlowdown = 1
