//go:build race

package runtime_test

// clientSlowdown is what the race detector costs the client in this process; the runtime itself is built without.
const clientSlowdown = 5
