// Package world simulates a cluster for the tests of attribution: what its kernels, runtimes, API servers and agents
// do, what an adversary makes of it, and what each of them writes down. It follows the kernel's rules and knows nothing
// of the engine. Everything is drawn from a seed.
//
// Whose each event is stands in its command line, which Owner reads: the session that the runtime started for the
// innermost true ancestor, by who called fork and not by who is the parent.
package world
